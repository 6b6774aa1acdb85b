package config

import (
	"encoding/json"
	"slices"
)

// Cloud that a reservation belongs to.
type Cloud string

// Clouds. Kind is a self-hosted runner with GPUs, on which a kind cluster is created.
const (
	AWS   Cloud = "aws"
	GCP   Cloud = "gcp"
	Azure Cloud = "azure"
	Kind  Cloud = "kind"
)

// Clouds returns the known clouds.
func Clouds() []Cloud { return []Cloud{AWS, GCP, Azure, Kind} }

// Intent is the purpose of a deployment.
type Intent string

// Intents of deployments.
const (
	Training  Intent = "training"
	Inference Intent = "inference"
)

// Intents returns the known intents.
func Intents() []Intent { return []Intent{Training, Inference} }

// Registry is the content of reservations.yaml.
type Registry struct {
	Reservations []Reservation `yaml:"reservations" json:"reservations"`
	// Capacities state the size of reservations; without one, the size is unknown.
	Capacities []Capacity `yaml:"capacities,omitempty" json:"capacities,omitempty"`
}

// Reservation is one row: one lease.
type Reservation struct {
	// Name is the key of the lease, a DNS label.
	Name string `yaml:"name" json:"name"`
	// Slug is two to four letters and digits for the names of clusters, which must be short.
	Slug  string `yaml:"slug" json:"slug"`
	Cloud Cloud  `yaml:"cloud" json:"cloud"`
	// ReservationID is the cloud's ID; empty for quota and own machines. Rows may share one.
	ReservationID string `yaml:"reservation-id,omitempty" json:"reservation-id,omitempty"`
	Accelerator   string `yaml:"accelerator" json:"accelerator"`
	// GPUCount is the number of GPUs per node.
	GPUCount int `yaml:"gpu-count" json:"gpu-count"`
	// NodeCount is the number of nodes of the lease; 0: not stated.
	NodeCount int `yaml:"node-count,omitempty" json:"node-count,omitempty"`
	// ClusterConfigPath and TestConfigDir are relative to the repository.
	ClusterConfigPath string `yaml:"cluster-config-path" json:"cluster-config-path"`
	TestConfigDir     string `yaml:"test-config-dir" json:"test-config-dir"`
	// NightlyIntents are the intents of the nightly batch; nil: training, empty: none. Nightly
	// resolves them.
	NightlyIntents []Intent `yaml:"nightly-intents" json:"nightly-intents"`
	// DaytimeIntent is deployed by day for people; empty: nothing.
	DaytimeIntent Intent `yaml:"daytime-intent,omitempty" json:"daytime-intent,omitempty"`
}

// Nightly returns the intents of the nightly batch.
func (r Reservation) Nightly() []Intent {
	if r.NightlyIntents == nil {
		return []Intent{Training}
	}
	return slices.Clone(r.NightlyIntents)
}

// marshalForm is a row with resolved nightly intents, because an encoder does not distinguish an
// empty list from nil.
type marshalForm Reservation

func (r Reservation) marshalForm() marshalForm {
	r.NightlyIntents = r.Nightly()
	return marshalForm(r)
}

// MarshalJSON writes resolved nightly intents.
func (r Reservation) MarshalJSON() ([]byte, error) {
	return json.Marshal(r.marshalForm())
}

// MarshalYAML writes resolved nightly intents.
func (r Reservation) MarshalYAML() (any, error) { return r.marshalForm(), nil }

// Capacity is the number of nodes of a cloud reservation.
type Capacity struct {
	ReservationID string `yaml:"reservation-id" json:"reservation-id"`
	NodeCount     int    `yaml:"node-count" json:"node-count"`
}

// Assignment is one deployment of the daytime rotation.
type Assignment struct {
	Reservation string `json:"reservation"`
	Intent      Intent `json:"intent"`
}

// Daytime returns the daytime rotation in the order of the rows; at most one per cloud.
func (r *Registry) Daytime() []Assignment {
	out := []Assignment{}
	for _, row := range r.Reservations {
		if row.DaytimeIntent != "" {
			out = append(out, Assignment{row.Name, row.DaytimeIntent})
		}
	}
	return out
}

// Names returns the names of the rows, in order.
func (r *Registry) Names() []string {
	out := make([]string, len(r.Reservations))
	for i, row := range r.Reservations {
		out[i] = row.Name
	}
	return out
}

// Find returns a copy of the row with this name.
func (r *Registry) Find(name string) (Reservation, bool) {
	i := slices.IndexFunc(r.Reservations, func(row Reservation) bool { return row.Name == name })
	if i < 0 {
		return Reservation{}, false
	}
	row := r.Reservations[i]
	row.NightlyIntents = slices.Clone(row.NightlyIntents)
	return row, true
}
