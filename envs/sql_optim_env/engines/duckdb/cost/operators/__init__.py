"""Features of the executed operators, one module a family. Every function takes a workbench, fills its features and returns what flows
on."""
