package capture

// command is one call of a tool. Kind is the reader's name in the corpus; file the name of its output.
type command struct {
	kind, file string
	argv       []string
}

// commands are those that only read. The diagnostic is level 1, which loads no GPU.
func commands() []command {
	return []command{
		{"smi", "smi-xml/query.xml", []string{"nvidia-smi", "-q", "-x"}},
		{"trouble", "trouble/query.txt", []string{"nvidia-smi", "-q"}},
		{"smi-list", "smi-list/list.txt", []string{"nvidia-smi", "-L"}},
		{"smi-query", "smi-query/query.csv", []string{"nvidia-smi", "--query-gpu=index,uuid,name,driver_version,vbios_version,pci.bus_id,pcie.link.gen.current,pcie.link.width.current,persistence_mode,temperature.gpu,power.draw,clocks.sm,ecc.mode.current", "--format=csv"}},
		{"smi-remap", "smi-remap/remap.csv", []string{"nvidia-smi", "--query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure,remapped_rows.uncorrectable,remapped_rows.correctable", "--format=csv"}},
		{"topology", "topology/matrix.txt", []string{"nvidia-smi", "topo", "-m"}},
		{"nvlink", "nvlink/status.txt", []string{"nvidia-smi", "nvlink", "-s"}},
		{"nvlink-errors", "nvlink-errors/errors.txt", []string{"nvidia-smi", "nvlink", "-e"}},
		{"fabricmanager", "fabricmanager/version.txt", []string{"nv-fabricmanager", "--version"}},
		{"dcgm-discovery", "dcgm-discovery/list.txt", []string{"dcgmi", "discovery", "-l"}},
		{"dcgm", "dcgm/diag-1.json", []string{"dcgmi", "diag", "-r", "1", "-j"}},
		{"ibstat", "ibstat/ibstat.txt", []string{"ibstat"}},
		{"ibv_devinfo", "ibv_devinfo/devinfo.txt", []string{"ibv_devinfo", "-v"}},
		{"iblinkinfo", "iblinkinfo/line.txt", []string{"iblinkinfo", "-l"}},
		{"ibqueryerrors", "ibqueryerrors/errors.txt", []string{"ibqueryerrors"}},
		{"sminfo", "sminfo/sminfo.txt", []string{"sminfo"}},
		{"xid", "xid/dmesg.log", []string{"dmesg"}},
	}
}
