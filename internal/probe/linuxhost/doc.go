// Package linuxhost reads the state of a Linux host in one login: its name, clock, memory, huge
// pages, CPU frequency governors, the PCIe links of its adapters and the topology of its GPUs.
//
// A missing feature (no cpufreq in a virtual machine, no adapters) is omitted, never zero. The
// parser never panics.
package linuxhost
