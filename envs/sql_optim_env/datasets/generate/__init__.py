"""Datasets that are made from a seed instead of being written by hand, one package a family."""
