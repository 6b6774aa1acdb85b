// Package slurm reads the outputs of Slurm's client commands, versions 21.08 to 25.11, in the text
// formats that all of them have: scontrol has --json since 23.02 only, and its fields change with
// the data parser. Unknown fields are ignored, needed ones are required.
package slurm
