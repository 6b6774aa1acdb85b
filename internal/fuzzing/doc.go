// Package fuzzing runs the fuzz targets of the module for a number of executions or a time each.
//
// Go's fuzzer copies every coverage counter of the binary after each execution. "go test -fuzz"
// adds counters to all dependencies: with client-go linked, an execution takes milliseconds. Here
// only the module's own packages and the decoders that they use have counters (command
// instrument): a small parser is executed seven times as often in the same time (decision 44).
package fuzzing
