package cmdutil

// Version is set by the linker.
var Version = "devel"
