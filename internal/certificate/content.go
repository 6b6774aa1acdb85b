package certificate

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// FormatVersion is the schema version of a certificate.
const FormatVersion = 1

// Decision is the conclusion of a certificate.
type Decision string

// The decisions.
const (
	// Accepted: the whole playbook passed on the ordered inventory, and every figure of the contract
	// is met.
	Accepted Decision = "accepted"
	// WithWaivers: every deviation from that has a waiver in force.
	WithWaivers Decision = "accepted with waivers"
	// NotAccepted: a deviation has no waiver in force, or cannot be waived.
	NotAccepted Decision = "not accepted"
)

// Waived is the state of a gate that failed or was unobserved, and of which each finding is waived.
// It is never a pass.
const Waived = "waived"

// Certificate is the content of a certificate: the predicate of its signed statement.
type Certificate struct {
	Format int `json:"format"`
	// Tool is the version of firstlight that derived the certificate.
	Tool     string   `json:"tool"`
	Decision Decision `json:"decision"`
	// Specimen: to be read before a certificate is issued. It certifies nothing, signed or not.
	Specimen bool      `json:"specimen,omitempty"`
	Issued   time.Time `json:"issued"`
	Terms    Terms     `json:"terms"`
	Run      Run       `json:"run"`
	Gates    []Gate    `json:"gates"`
	// Figures are those of the contract.
	Figures    []Figure    `json:"figures,omitempty"`
	Deviations []Deviation `json:"deviations,omitempty"`
	Inventory  []Machine   `json:"inventory"`
}

// Run identifies the evidence.
type Run struct {
	ID string `json:"id"`
	// Manifest is the SHA-256 of the evidence's manifest, which covers each of its files.
	Manifest string `json:"manifest"`
	// SignedBy is the ID of the key that signed the evidence.
	SignedBy  string            `json:"signedBy"`
	Verdict   check.Verdict     `json:"verdict"`
	Began     time.Time         `json:"began"`
	Ended     time.Time         `json:"ended"`
	Tool      string            `json:"tool"`
	Site      Input             `json:"site"`
	Profile   Input             `json:"profile"`
	Cluster   string            `json:"cluster"`
	Simulated evidence.Hardware `json:"simulated"`
}

// Input is a file that the run was judged by.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Gate is a step of the run with its figures.
type Gate struct {
	Name string `json:"name"`
	// State is the verdict, or Waived.
	State   string         `json:"state"`
	Verdict check.Verdict  `json:"verdict"`
	Reason  string         `json:"reason"`
	Figures []check.Figure `json:"figures,omitempty"`
}

// Figure is a figure of the contract with the measured values: none, or one. A gate over groups of
// nodes has a figure for each group, with the group in its name.
type Figure struct {
	Term
	Measured []float64 `json:"measured,omitempty"`
	Met      bool      `json:"met"`
}

// Machine is a host of the inventory.
type Machine struct {
	node.Machine
	// LeftOut: the run leaves the host out; it does not count.
	LeftOut bool `json:"leftOut,omitempty"`
}

// Deviation is a difference from the whole playbook on the ordered inventory with the contract's
// figures.
type Deviation struct {
	// Gate is empty for one of the whole run.
	Gate    string `json:"gate,omitempty"`
	Suspect string `json:"suspect"`
	Text    string `json:"text"`
	// Final: it cannot be waived.
	Final  bool    `json:"final,omitempty"`
	Waiver *Waiver `json:"waiver,omitempty"`
	// Expired: the waiver had expired when the certificate was issued.
	Expired bool `json:"expired,omitempty"`
}

// Where is the gate of the deviation, or "run".
func (d Deviation) Where() string {
	if d.Gate == "" {
		return "run"
	}
	return d.Gate
}

// Open reports whether the deviation prevents acceptance.
func (d Deviation) Open() bool { return d.Final || d.Waiver == nil || d.Expired }

// Open are the deviations that prevent acceptance.
func (c Certificate) Open() []Deviation {
	var out []Deviation
	for _, d := range c.Deviations {
		if d.Open() {
			out = append(out, d)
		}
	}
	return out
}

// Count is the number of nodes and GPUs that the run did not leave out.
func (c Certificate) Count() (nodes, gpus int) {
	for _, m := range c.Inventory {
		if !m.LeftOut {
			nodes++
			gpus += len(m.GPUs)
		}
	}
	return nodes, gpus
}
