package store

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// GroupVersion is the API group and version of the stored objects.
var GroupVersion = schema.GroupVersion{Group: "firstlight.dev", Version: "v1alpha1"}

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Reservation is scarce capacity with at most one holder.
type Reservation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitzero"`
}

// Spec is a row of the registry.
type Spec struct {
	Slug          string `json:"slug,omitempty"`
	Cloud         string `json:"cloud,omitempty"`
	ReservationID string `json:"reservationID,omitempty"`
	Accelerator   string `json:"accelerator,omitempty"`
	GPUCount      int    `json:"gpuCount,omitempty"`
	NodeCount     int    `json:"nodeCount,omitempty"`
	// NeedsNoCleaning: a released reservation is free at once, unless a deployment was published
	// under its lease. An expired one never is.
	NeedsNoCleaning bool `json:"needsNoCleaning,omitempty"`
}

// +k8s:deepcopy-gen=true

// Status is the lease record and the columns of kubectl get.
type Status struct {
	lease.Record `json:",inline"`
	Waiting      int `json:"waiting"`
}

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ReservationList is a list of reservations.
type ReservationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Reservation `json:"items"`
}

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ReservationHistory has archived events of a reservation, oldest first. It never changes.
type ReservationHistory struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Events            []lease.Event `json:"events"`
}

// +k8s:deepcopy-gen=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ReservationHistoryList is a list of archived events.
type ReservationHistoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []ReservationHistory `json:"items"`
}
