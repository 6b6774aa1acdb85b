// Package buildflags has the flags with which all Go programs here are compiled: firstlight, its
// tests and the upstream programs. A package that several of them have is compiled once.
package buildflags

// Flags are the flags of go build and go test, as in the Makefile.
//
// -l does not inline, except in the standard library: a quarter less CPU time to compile and a
// tenth less size, for a twentieth more CPU time at run time (docs/decisions/0037-no-inlining.md).
func Flags() []string {
	return []string{"-trimpath", "-gcflags=all=-dwarf=false -l", "-gcflags=std=-dwarf=false"}
}

// Strip is the flag of the linker: no symbol table.
const Strip = "-ldflags=-s -w"
