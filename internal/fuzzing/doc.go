// Package fuzzing runs the fuzz targets of the module for a number of executions or a time each.
//
// Go's fuzzer copies every coverage counter of the binary after each execution. "go test -fuzz"
// adds counters to all dependencies: with client-go linked, an execution takes milliseconds. Here
// only the module's own packages and the decoders that they use have counters (command
// instrument): 6 to 1,000 times as many executions in the same time.
package fuzzing
