package attest

import (
	"time"

	intoto "github.com/in-toto/attestation/go/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

// The types of a statement.
const (
	StatementType = intoto.StatementTypeUri
	PredicateType = "https://firstlight.dev/evidence/v1"
	// PayloadType is the payload type of the DSSE envelope.
	PayloadType = "application/vnd.in-toto+json"
)

// Statement is an in-toto Statement v1 about one run.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is a subject of the statement: "run:<id>" with the digest of the manifest,
// "recipe:<name>" with that of recipe.yaml, "cluster:<uid>" with that of the UID.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"` // sha256, hex
}

// State is the progress of the run.
type State string

// The states.
const (
	Finished    State = "finished"
	Interrupted State = "interrupted"
)

// Predicate is the content of the statement.
type Predicate struct {
	Run   string `json:"run"`
	State State  `json:"state"`
	// Attested is the signing time; all other fields are derived from the run.
	Attested time.Time     `json:"attested"`
	Started  time.Time     `json:"started"`
	Finished time.Time     `json:"finished"` // the journal's last entry
	Verdict  check.Verdict `json:"verdict"`
	Inputs   Inputs        `json:"inputs"`
	Plan     Plan          `json:"plan"`
	// Steps are the steps with a verdict, in the order of the plan.
	Steps  []Step `json:"steps"`
	Counts Counts `json:"counts"`
	// CompleteUpTo is the last step before which every step has a verdict.
	CompleteUpTo string `json:"completeUpTo,omitempty"`
	// Omitted are the steps that were not selected, Missing those without a verdict because of
	// an interruption, Begun the started steps of Missing.
	Omitted []string `json:"omitted,omitempty"`
	Missing []string `json:"missing,omitempty"`
	Begun   []string `json:"begun,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// EarlierAttempts are the attempts of steps before those that have the verdicts.
	EarlierAttempts []string `json:"earlierAttempts,omitempty"`
	Manifest        Manifest `json:"manifest"`
}

// Inputs are the inputs of the run.
type Inputs struct {
	Tool string `json:"tool"`
	// EarlierTools are the other versions of firstlight that worked on the run.
	EarlierTools []string `json:"earlierTools,omitempty"`
	Command      []string `json:"command"`
	Site         Input    `json:"site"`
	Profile      Input    `json:"profile"`
	Recipe       *Input   `json:"recipe,omitempty"`
	// Cluster is the UID of its kube-system namespace; empty if unknown.
	Cluster string `json:"cluster,omitempty"`
	// Simulated says whether the hardware is simulated, with the reason in SimulatedWhy.
	Simulated    evidence.Hardware `json:"simulated"`
	SimulatedWhy string            `json:"simulatedWhy,omitempty"`
	From         string            `json:"from,omitempty"`
	Only         string            `json:"only,omitempty"`
	AllowFailed  int               `json:"allowFailed,omitempty"`
	Include      []string          `json:"include,omitempty"`
	Seed         *uint64           `json:"seed,omitempty"`
	Versions     map[string]string `json:"versions,omitempty"`
	// Digests are the SHA-256 of the programs of a lab, in hex.
	Digests map[string]string `json:"digests,omitempty"`
}

// Input is one file as used.
type Input struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Plan is the plan of the run.
type Plan struct {
	Name   string   `json:"name"`
	SHA256 string   `json:"sha256"` // of plan.json
	Steps  []string `json:"steps"`  // in the order run
}

// Step is one verdict.
type Step struct {
	Step    string        `json:"step"`
	Verdict check.Verdict `json:"verdict"`
	// Recommended: the verdict does not count in the overall verdict.
	Recommended bool           `json:"recommended,omitempty"`
	Reason      string         `json:"reason"`
	Figures     []check.Figure `json:"figures,omitempty"`
	// Findings and Observations are counts.
	Findings     int       `json:"findings"`
	Observations int       `json:"observations"`
	Started      time.Time `json:"started,omitzero"`
	Finished     time.Time `json:"finished,omitzero"`
	KeptFrom     string    `json:"keptFrom,omitempty"`
	// LeftOut are the nodes that a partial verdict leaves out.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Counts of steps.
type Counts struct {
	Planned       int `json:"planned"`
	Passed        int `json:"passed"`
	Partial       int `json:"partial,omitempty"`
	Failed        int `json:"failed"`
	Unobserved    int `json:"unobserved"`
	Blocked       int `json:"blocked"`
	NotApplicable int `json:"notApplicable"`
	// Without a verdict: omitted and missing.
	Without int `json:"without"`
}

// Manifest identifies the files of the run.
type Manifest struct {
	SHA256 string `json:"sha256"`
	Files  int    `json:"files"`
	// Inventory lists the files of an interrupted run, which has no manifest.
	Inventory []evidence.ManifestFile `json:"inventory,omitempty"`
}
