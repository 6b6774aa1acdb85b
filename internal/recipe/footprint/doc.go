// Package footprint computes the pods that a component schedules. It reads the files in
// footprints/ and combines them with a recipe's values: by the rules of a documented footprint,
// or from the lock of a rendered one.
//
// Its only I/O is reading the recipe tree; results share no memory with the tree. Package chart
// writes the locks.
package footprint
