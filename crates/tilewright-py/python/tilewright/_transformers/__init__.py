"""Checkpoints as published and as transformers keeps them: recipes, audits and loading.

Each module is one step:

- ``library``: the installed transformers, and a model without memory
- ``heads``: names, shapes and element types of a checkpoint, from its headers
- ``loader``: the target of each tensor, as the loader of transformers decides it
- ``axes``: dimensions as expressions of axes
- ``operations``: transformers' operations, applied to expressions instead of tensors
- ``rules``: the rules of a recipe, one tensor or list of tensors after the other
- ``prefixes``: many changes of names as few rules
- ``text``: rules as the text of a recipe
- ``generating``: the recipe of a checkpoint, checked in both directions
- ``auditing``, ``saving``, ``quantised``, ``findings``: what transformers would lose
- ``streaming``: tensors that a recipe makes when transformers asks for them
- ``restoring``, ``copies``: the published checkpoint from what transformers saved
- ``program``: the commands
"""
