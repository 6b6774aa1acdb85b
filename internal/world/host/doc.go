// Package host is what a login on a simulated host runs: nvidia-smi, dcgmi,
// ibstat, sminfo, iblinkinfo, ibqueryerrors, ibdiagnet, dmesg and a few small
// commands, printing what the real ones print for that host's state.
//
// A tool is a pure function of a world.State, the host's name and its
// arguments: it keeps nothing, alters nothing and reads no clock but the
// state's. Unknown commands end with 127 as a shell's do. Nothing here is
// shared with whatever parses these formats.
package host
