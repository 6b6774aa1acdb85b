package infiniband

// The states of a port that carries traffic.
const (
	StateActive    = "Active"
	PhysicalLinkUp = "LinkUp"
)

// HCA is one adapter, "CA" in ibstat.
type HCA struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"` // empty if ibstat does not print it
	Firmware string    `json:"firmware"`
	NodeGUID string    `json:"nodeGUID"`
	Ports    []HCAPort `json:"ports"`
}

// HCAPort is one port of an adapter.
type HCAPort struct {
	Number int `json:"number"`
	// State is Down, Initializing, Armed or Active.
	State string `json:"state"`
	// PhysicalState is LinkUp, Polling, Disabled, ...
	PhysicalState string `json:"physicalState"`
	RateGbps      int    `json:"rateGbps"`
	BaseLID       int    `json:"baseLID"`
	SMLID         int    `json:"smLID"`
	PortGUID      string `json:"portGUID"`
	LinkLayer     string `json:"linkLayer"`
}

// Up reports whether the port is Active and the physical link is up.
func (p HCAPort) Up() bool { return p.State == StateActive && p.PhysicalState == PhysicalLinkUp }
