package nvidia

// The kinds of events: errors of GPUs, of NVSwitches, and of GPUs that the driver cannot initialise,
// which have no code.
const (
	KindXid    = "Xid"
	KindSXid   = "SXid"
	KindDriver = "driver"
)

// XidRecoveryActionChanged is the Xid whose text names the required recovery action.
const XidRecoveryActionChanged = 154

// offBusCode is the Xid of a GPU that has fallen off the bus.
const offBusCode = "79"

// NoRecoveryAction is the recovery action of a GPU that needs no recovery.
const NoRecoveryAction = "None"

// XidLog is the events of a kernel log.
type XidLog struct {
	Lines int `json:"lines"`
	// FromBoot: the log starts at boot. If false, the ring buffer has wrapped and events can be
	// lost.
	FromBoot bool `json:"fromBoot"`
	// First and Last are the printed timestamps of the first and the last line that has one.
	First  string     `json:"first,omitempty"`
	Last   string     `json:"last,omitempty"`
	Events []XidEvent `json:"events"`
	// Hardware are errors of the host's own hardware, of KindMemory to KindKernel. They have no code.
	Hardware []XidEvent `json:"hardware,omitempty"`
}

// XidEvent is one error and its number of occurrences.
type XidEvent struct {
	Kind string `json:"kind"`
	Code int    `json:"code"`
	// PCI is the address as domain:bus:device in lower case: "0000:1b:00".
	PCI string `json:"pci"`
	// Device is the switch of an SXid, "nvswitch3", or the drive or memory controller of the host.
	Device string `json:"device,omitempty"`
	// Fatal is the classification that the line states: that of an SXid, or of Xid 144 to 150. An error of the
	// host's hardware is fatal if it was not corrected.
	Fatal bool `json:"fatal,omitempty"`
	// Unclassified: no line states whether such an error is fatal.
	Unclassified bool `json:"unclassified,omitempty"`
	// Action is the new recovery action of Xid 154.
	Action string `json:"action,omitempty"`
	// Text is the message of the first occurrence.
	Text  string `json:"text"`
	Count int    `json:"count"`
	// First and Last are the printed timestamps.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
}
