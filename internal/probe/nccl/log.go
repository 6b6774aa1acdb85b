package nccl

// Log is the content of the NCCL lines of one log.
type Log struct {
	// Lines is the number of NCCL lines; 0: NCCL printed nothing.
	Lines int `json:"lines"`
	// Joined is the number of lines that hold several lines of NCCL without a limit between them, and of processes of whose
	// channels only lines without an end are known.
	Joined int `json:"joined,omitempty"`
	// Cut is the number of lines whose end is missing, because mpirun printed a line of another process there. They are not read.
	Cut      int      `json:"cut,omitempty"`
	Versions []string `json:"versions,omitempty"`
	Hosts    []Host   `json:"hosts"`
	// Ranks are the ranks with an init, ring or NVLS line, in order.
	Ranks []Rank `json:"ranks"`
	// Channels are the distinct connections.
	Channels []Channel `json:"channels"`
	// CollNet are the connections of ranks with switches that reduce, such as by SHARP.
	CollNet []Channel `json:"collNet,omitempty"`
	// Warnings are NCCL WARN lines, with their host.
	Warnings []Warning `json:"warnings,omitempty"`
	// Clipped: the log exceeded a bound and the result is incomplete.
	Clipped bool `json:"clipped,omitempty"`
}

// Host is the network of one host as its processes report it.
type Host struct {
	Name string `json:"name"`
	// HCAs are the distinct lists after "NET/IB : Using"; a healthy host has one.
	HCAs [][]HCA `json:"hcas,omitempty"`
	// Networks are the names after "Using network".
	Networks []string `json:"networks,omitempty"`
	// NoDevice: NET/IB found no device.
	NoDevice bool `json:"noDevice,omitempty"`
	// Sockets are the interfaces of NET/Socket.
	Sockets []string `json:"sockets,omitempty"`
	// Plugins are the implementations that the network plugin of HPC-X selected, such as "IBext_v8" or "UCX".
	Plugins []string `json:"plugins,omitempty"`
	// Providers are those of libfabric that aws-ofi-nccl selected, such as "efa" or "tcp;ofi_rxm".
	Providers []string `json:"providers,omitempty"`
	// GPUDirectOff are the HCAs with GPUDirect RDMA disabled.
	GPUDirectOff []string `json:"gpuDirectOff,omitempty"`
	// Settings are the variables NCCL_MNNVL_*, NCCL_CUMEM_* and NCCL_P2P_* of its processes, as NAME=VALUE.
	Settings []string `json:"settings,omitempty"`
}

// HCA is one device of a "Using" list.
type HCA struct {
	// Index is the same for the ports of one device of several.
	Index int    `json:"index"`
	Name  string `json:"name"`
	Port  int    `json:"port"`
	// Layer is "IB", "RoCE" or "IB/SHARP".
	Layer string `json:"layer"`
}

// Rank is one GPU of the communicator.
type Rank struct {
	// Rank is -1 if no line has it.
	Rank   int    `json:"rank"`
	Host   string `json:"host"`
	Device int    `json:"device"`
	NRanks int    `json:"nranks,omitempty"`
	BusID  string `json:"busID,omitempty"`
	// Inits is the number of "Init COMPLETE" lines.
	Inits int `json:"inits"`
	// Rings is the number of "Connected all rings" lines; RingGDR is their GPUDirect flag.
	Rings   int   `json:"rings"`
	RingGDR *bool `json:"ringGDR,omitempty"`
	// NVLS is whether multicast is available; nil if not reported.
	NVLS *bool `json:"nvls,omitempty"`
	// Fabrics are the distinct NVLink fabrics of its GPU; a healthy rank has one, or none where NCCL reports none.
	Fabrics []Fabric `json:"fabrics,omitempty"`
	// MNNVL is whether its communicators use NVLink between nodes, CliqueSize the ranks that they reach by it;
	// nil and 0 if not reported. Cliques is how many of them report a clique.
	MNNVL      *bool `json:"mnnvl,omitempty"`
	CliqueSize int   `json:"cliqueSize,omitempty"`
	Cliques    int   `json:"cliques,omitempty"`
}

// Channel is a connection between two ranks as one of them reports it.
type Channel struct {
	Host string `json:"host"`
	From int    `json:"from"`
	// To is -1 where the peer is a switch (CollNet).
	To int `json:"to"`
	// Direction is "send" or "receive", empty inside a node.
	Direction string `json:"direction,omitempty"`
	// Transport is "NET/IB", "NET/Socket", "P2P/CUMEM/read", "SHM/direct/direct", "COLLNET/SHARP".
	Transport string `json:"transport"`
	// Device is an index of the HCAs of the host; -1 for a transport without device.
	Device int  `json:"device"`
	GDR    bool `json:"gdr"`
	Count  int  `json:"count"`
}

// Warning is one NCCL WARN line.
type Warning struct {
	Host string `json:"host"`
	// Source is the file and line of NCCL, such as "transport/nvls.cc:254"; empty if not printed.
	Source string `json:"source,omitempty"`
	Text   string `json:"text"`
}
