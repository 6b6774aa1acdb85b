package config

import (
	"encoding/json"
	"slices"
)

// Cloud is where a reservation is.
type Cloud string

// Clouds. Kind is a runner with GPUs of one's own, on which a kind cluster is made.
const (
	AWS   Cloud = "aws"
	GCP   Cloud = "gcp"
	Azure Cloud = "azure"
	Kind  Cloud = "kind"
)

// Clouds are those that are known.
func Clouds() []Cloud { return []Cloud{AWS, GCP, Azure, Kind} }

// Intent is what a cluster is stood up for.
type Intent string

// Intents.
const (
	Training  Intent = "training"
	Inference Intent = "inference"
)

// Intents are those that are known.
func Intents() []Intent { return []Intent{Training, Inference} }

// Registry is what one reservations.yaml holds.
type Registry struct {
	Reservations []Reservation `yaml:"reservations" json:"reservations"`
	// Capacities say how large reservations are; without one, nothing is known of it.
	Capacities []Capacity `yaml:"capacities,omitempty" json:"capacities,omitempty"`
}

// Reservation is one row: one lease.
type Reservation struct {
	// Name is the key of the lease, a DNS label.
	Name string `yaml:"name" json:"name"`
	// Slug is two to four letters and digits, for names of clusters, whose length is short.
	Slug  string `yaml:"slug" json:"slug"`
	Cloud Cloud  `yaml:"cloud" json:"cloud"`
	// ReservationID is the cloud's; empty where quota, or a machine of one's own, is
	// behind it. Rows may share one.
	ReservationID string `yaml:"reservation-id,omitempty" json:"reservation-id,omitempty"`
	Accelerator   string `yaml:"accelerator" json:"accelerator"`
	// GPUCount is GPUs a node.
	GPUCount int `yaml:"gpu-count" json:"gpu-count"`
	// NodeCount is nodes that the holder of the lease takes; 0: not stated.
	NodeCount int `yaml:"node-count,omitempty" json:"node-count,omitempty"`
	// ClusterConfigPath and TestConfigDir are relative to the repository.
	ClusterConfigPath string `yaml:"cluster-config-path" json:"cluster-config-path"`
	TestConfigDir     string `yaml:"test-config-dir" json:"test-config-dir"`
	// NightlyIntents is what the nightly batch runs here; nil: training, empty: nothing.
	// Nightly has it resolved.
	NightlyIntents []Intent `yaml:"nightly-intents" json:"nightly-intents"`
	// DaytimeIntent is what stands here by day for people; empty: nothing.
	DaytimeIntent Intent `yaml:"daytime-intent,omitempty" json:"daytime-intent,omitempty"`
}

// Nightly is what the nightly batch runs on the reservation.
func (r Reservation) Nightly() []Intent {
	if r.NightlyIntents == nil {
		return []Intent{Training}
	}
	return slices.Clone(r.NightlyIntents)
}

// written is a row as it is written: with what nightly intents come to, for a
// writer makes one thing of a list that is empty and of one that is not there.
type marshalForm Reservation

func (r Reservation) marshalForm() marshalForm {
	r.NightlyIntents = r.Nightly()
	return marshalForm(r)
}

// MarshalJSON writes nightly intents as they count.
func (r Reservation) MarshalJSON() ([]byte, error) {
	return json.Marshal(r.marshalForm()) //nolint:wrapcheck // fails with nothing of ours
}

// MarshalYAML writes nightly intents as they count.
func (r Reservation) MarshalYAML() (any, error) { return r.marshalForm(), nil }

// Capacity says how many nodes a cloud's reservation has.
type Capacity struct {
	ReservationID string `yaml:"reservation-id" json:"reservation-id"`
	NodeCount     int    `yaml:"node-count" json:"node-count"`
}

// Assignment is one deployment of the daytime rotation.
type Assignment struct {
	Reservation string `json:"reservation"`
	Intent      Intent `json:"intent"`
}

// Daytime is the daytime rotation, in the order of the rows; at most one a cloud.
func (r *Registry) Daytime() []Assignment {
	out := []Assignment{}
	for _, row := range r.Reservations {
		if row.DaytimeIntent != "" {
			out = append(out, Assignment{row.Name, row.DaytimeIntent})
		}
	}
	return out
}

// Names are those of the rows, in their order.
func (r *Registry) Names() []string {
	out := make([]string, len(r.Reservations))
	for i, row := range r.Reservations {
		out[i] = row.Name
	}
	return out
}

// Find is the row of a name.
func (r *Registry) Find(name string) (Reservation, bool) {
	i := slices.IndexFunc(r.Reservations, func(row Reservation) bool { return row.Name == name })
	if i < 0 {
		return Reservation{}, false
	}
	row := r.Reservations[i]
	row.NightlyIntents = slices.Clone(row.NightlyIntents)
	return row, true
}
