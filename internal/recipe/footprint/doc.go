// Package footprint says which pods a component schedules: it reads the files
// under footprints/, and makes workloads of one and a recipe's values, by the
// rules of a documented footprint or from the lock of a rendered one.
//
// It is pure but for reading the recipe tree; what it returns shares nothing
// with the tree. Package chart makes the locks.
package footprint
