"""Checkpoints as published and as transformers keeps them: recipes, audits and loading.

Each module is one step:

- ``library``: the installed transformers, and a model without memory
- ``files``: names, shapes and element types of a checkpoint, from its headers; bytes of single tensors
- ``loader``: the target and the element type of each tensor, as the loader of transformers decides them
- ``published``: a checkpoint and its model
- ``axes``: dimensions as expressions of axes
- ``operations``: transformers' operations, applied to expressions instead of tensors
- ``rules``: the rules of a recipe, one tensor or list of tensors after the other
- ``prefixes``: many changes of names as few rules
- ``text``: rules as the text of a recipe
- ``generating``: the recipe of a checkpoint, checked in both directions
- ``auditing``: what transformers would lose
- ``streaming``: tensors that a recipe makes when transformers asks for them
- ``restoring``: the published checkpoint from what transformers saved
- ``program``: the commands
"""
