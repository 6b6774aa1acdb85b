// Package roce parses what the tools of Linux and of NVIDIA's drivers print of RDMA devices on
// Ethernet: attributes in sysfs, ethtool -S, mlnx_qos, and dcb and ip of iproute2.
package roce
