// Package linuxhost reads what a Linux host says of itself in one login: its name, its
// clock, memory, huge pages, CPU frequency governors, the PCIe links of its adapters and
// the places of its GPUs.
//
// What a host does not have (no cpufreq in a virtual machine, no adapters) is left out,
// never zero. Nothing panics.
package linuxhost
