//! Recipes, carried out by a naive interpreter: recorded pairs of checkpoints, random rules, and what must be refused.

mod conditions;
mod corpus;
mod features;
mod gguf;
mod heads;
mod interpreter;
mod laws;
mod layers;
mod pairs;
mod parts;
mod refused;
mod renames;
mod robust;
mod shipped;
mod sizes;
