package world

// Arch is the host's processor architecture as Kubernetes names it. System hosts are amd64.
func (n Node) Arch() string {
	if n.System || n.Hardware.Node.Arch == "" {
		return "amd64"
	}
	return n.Hardware.Node.Arch
}

// Machine is the architecture as uname -m prints it.
func (n Node) Machine() string {
	if n.Arch() == "arm64" {
		return "aarch64"
	}
	return "x86_64"
}

// CPUVendor is the processor's vendor as node feature discovery labels it.
func (n Node) CPUVendor() string {
	if n.Arch() == "arm64" {
		return "ARM"
	}
	return "Intel"
}
