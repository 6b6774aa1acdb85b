package host

// nvFabricManager supports --version.
func nvFabricManager(c *call) int {
	if !c.has("--version", "-v") {
		c.errorf("nv-fabricmanager: this host's program knows --version only\n")
		return 1
	}
	c.printf("Fabric Manager version is : %s\n", c.node.FabricManager.Version)
	return 0
}

// systemctl supports systemctl show UNIT -p PROPERTY... of the units of fabric manager and
// IMEX daemon; other units do not exist.
func systemctl(c *call) int {
	if len(c.args) < 2 || c.args[0] != "show" {
		c.errorf("systemctl: this host's systemctl knows show UNIT -p PROPERTY only\n")
		return 1
	}
	state := map[string]string{"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}
	unit, ok := map[string]struct {
		program string
		stopped bool
	}{
		"nvidia-fabricmanager.service": {managerProgram, c.node.FabricManager.Stopped}, "nvidia-imex.service": {imexProgram, c.node.IMEX.Stopped},
	}[c.args[1]]
	if ok && installed(c.node, unit.program) {
		state["LoadState"] = "loaded"
		if !unit.stopped {
			state["ActiveState"], state["SubState"] = "active", "running"
		}
	}
	for _, name := range []string{"LoadState", "ActiveState", "SubState"} {
		if c.has(name) {
			c.printf("%s=%s\n", name, state[name])
		}
	}
	return 0
}

// processNames are the files /proc/PID/comm of the processes that the simulation knows. Processes of
// containers are among them.
func (c *call) processNames() map[string]string {
	names := map[string]string{"/proc/1/comm": "systemd\n"}
	if m := c.node.FabricManager; m.Version != "" && !m.Stopped {
		const longest = len("nv-fabricmanage") // TASK_COMM_LEN of the kernel, less its zero
		names["/proc/2117/comm"] = managerProgram[:longest] + "\n"
	}
	return names
}

// readlink supports the PID namespace of the caller: that of the host.
func readlink(c *call) int {
	if len(c.args) != 1 || c.args[0] != "/proc/self/ns/pid" {
		return 1
	}
	c.printf("pid:[%d]\n", uint32(0xEFFFFFFC))
	return 0
}
