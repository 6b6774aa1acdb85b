package nvidia

// The kinds of events.
const (
	KindXid  = "Xid"
	KindSXid = "SXid"
)

// XidRecoveryActionChanged is the Xid whose text says what the driver wants done.
const XidRecoveryActionChanged = 154

// NoRecoveryAction is the recovery action of a GPU that needs none.
const NoRecoveryAction = "None"

// XidLog is what a kernel log says.
type XidLog struct {
	Lines int `json:"lines"`
	// FromBoot says that the log begins with the boot: a ring buffer that has
	// wrapped may have lost events.
	FromBoot bool       `json:"fromBoot"`
	Events   []XidEvent `json:"events"`
}

// XidEvent is one error, and how often it came.
type XidEvent struct {
	Kind string `json:"kind"`
	Code int    `json:"code"`
	// PCI is the device as domain:bus:device, lower case: "0000:1b:00".
	PCI string `json:"pci"`
	// Device names the switch of an SXid: "nvswitch3".
	Device string `json:"device,omitempty"`
	// Fatal is an SXid's own classification.
	Fatal bool `json:"fatal,omitempty"`
	// Unclassified is an SXid of which no line says whether it is fatal.
	Unclassified bool `json:"unclassified,omitempty"`
	// Action is what Xid 154 changed the recovery action to.
	Action string `json:"action,omitempty"`
	// Text is what the driver said, the first time.
	Text  string `json:"text"`
	Count int    `json:"count"`
	// First and Last are timestamps as printed.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
}
