package nccl

// Log is what the INFO lines of one log say.
type Log struct {
	// Lines counts NCCL lines; zero means that NCCL was silent.
	Lines    int      `json:"lines"`
	Versions []string `json:"versions,omitempty"`
	Hosts    []Host   `json:"hosts"`
	// Ranks are those that said who they are, by rank.
	Ranks []Rank `json:"ranks"`
	// Channels are the connections, each distinct one once.
	Channels []Channel `json:"channels"`
	// Warnings are NCCL WARN lines, with their host.
	Warnings []Warning `json:"warnings,omitempty"`
	// Clipped says that a bound was hit and something is not in here.
	Clipped bool `json:"clipped,omitempty"`
}

// Host is what the processes of one host say of its network.
type Host struct {
	Name string `json:"name"`
	// HCAs are the distinct lists after "NET/IB : Using"; healthy is one.
	HCAs [][]HCA `json:"hcas,omitempty"`
	// Networks are the names after "Using network".
	Networks []string `json:"networks,omitempty"`
	// NoDevice says that NET/IB found no device.
	NoDevice bool `json:"noDevice,omitempty"`
	// Sockets are interfaces that NET/Socket uses.
	Sockets []string `json:"sockets,omitempty"`
	// GPUDirectOff are the HCAs that GPUDirect RDMA is disabled for.
	GPUDirectOff []string `json:"gpuDirectOff,omitempty"`
}

// HCA is one device of a "Using" list.
type HCA struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	Port  int    `json:"port"`
	// Layer is "IB", "RoCE" or "IB/SHARP".
	Layer string `json:"layer"`
}

// Rank is one GPU of the communicator.
type Rank struct {
	// Rank is -1 where no line told it.
	Rank   int    `json:"rank"`
	Host   string `json:"host"`
	Device int    `json:"device"`
	NRanks int    `json:"nranks,omitempty"`
	BusID  string `json:"busID,omitempty"`
	// Inits counts "Init COMPLETE".
	Inits int `json:"inits"`
	// Rings counts "Connected all rings"; RingGDR is what they said of GPUDirect.
	Rings   int   `json:"rings"`
	RingGDR *bool `json:"ringGDR,omitempty"`
	// NVLS is whether multicast is available; nil when nothing was said.
	NVLS *bool `json:"nvls,omitempty"`
}

// Channel is a connection between two ranks as one of the two reports it.
type Channel struct {
	Host string `json:"host"`
	From int    `json:"from"`
	To   int    `json:"to"`
	// Direction is "send" or "receive", empty inside a node.
	Direction string `json:"direction,omitempty"`
	// Transport is "NET/IB", "NET/Socket", "P2P/CUMEM/read", "SHM/direct/direct".
	Transport string `json:"transport"`
	// Device indexes Host's HCAs; -1 where the transport has none.
	Device int  `json:"device"`
	GDR    bool `json:"gdr"`
	Count  int  `json:"count"`
}

// Warning is one NCCL WARN line.
type Warning struct {
	Host string `json:"host"`
	Text string `json:"text"`
}
