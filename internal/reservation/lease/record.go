package lease

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State of a reservation.
type State string

// States, in the order of a lease's life.
const (
	Free     State = "free"
	Leased   State = "leased" // offered or held
	Dirty    State = "dirty"
	Cleaning State = "cleaning"
)

// +k8s:deepcopy-gen=true

// Record is the complete state of the leases of a reservation. Its zero value is free.
type Record struct {
	State State `json:"state,omitempty"`
	// Token is the highest token ever granted.
	Token int64 `json:"token,omitempty"`
	// Lease is the lease that is offered or held, or the cleaning lease.
	Lease *Lease `json:"lease,omitempty"`
	// DirtyInfo says why the reservation is dirty; it is also set during cleaning.
	DirtyInfo *DirtyInfo `json:"dirtyInfo,omitempty"`
	// Queue has the waiting tickets, in the order in which they are served.
	Queue []Ticket `json:"queue,omitempty"`
	// Events counts all events ever; Recent has the newest ones, oldest first.
	Events int64   `json:"events,omitempty"`
	Recent History `json:"recent,omitempty"`
}

// +k8s:deepcopy-gen=true

// Ticket is a place in a queue.
type Ticket struct {
	// ID is chosen by the client, so that a repeated request makes one ticket.
	ID     string `json:"id"`
	Holder string `json:"holder"`
	// User is the authenticated user that created the ticket; empty if unknown.
	User string `json:"user,omitempty"`
	// Purpose describes the use of the lease, such as training or v1.4.0/inference.
	Purpose string `json:"purpose,omitempty"`
	// Class names a priority; the highest Priority is served first.
	Class    string `json:"class,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// QueuedAt is the time of the request; a group has the same time in each reservation.
	QueuedAt metav1.MicroTime `json:"queuedAt"`
	// RenewInterval is the interval within which a waiter, and then the holder, must renew; 0: the
	// holder need not renew until the end of Term.
	RenewInterval metav1.Duration `json:"renewInterval,omitzero"`
	// WaitTimeout replaces RenewInterval while the ticket waits.
	WaitTimeout metav1.Duration `json:"waitTimeout,omitzero"`
	// Term is the duration of the lease from its claim; 0: as long as it is renewed.
	Term metav1.Duration `json:"term,omitzero"`
	// MaxTerm is the maximum duration with extensions.
	MaxTerm metav1.Duration `json:"maxTerm,omitzero"`
	// Group has the names of all reservations of the request, this one included; empty for a
	// single reservation.
	Group []string `json:"group,omitempty"`
	// Heartbeats counts renewals and heartbeats.
	Heartbeats int64 `json:"heartbeats,omitempty"`
}

// +k8s:deepcopy-gen=true

// Lease is the exclusive use of a reservation.
type Lease struct {
	Ticket
	Token     int64            `json:"token"`
	GrantedAt metav1.MicroTime `json:"grantedAt"`
	// ClaimedAt is nil while the lease is offered.
	ClaimedAt *metav1.MicroTime `json:"claimedAt,omitempty"`
	// ExpiresAt is the end of the lease unless it is renewed or extended; nil while offered.
	ExpiresAt *metav1.MicroTime `json:"expiresAt,omitempty"`
	// TermEndsAt is the end that renewals cannot exceed; nil: no limit.
	TermEndsAt *metav1.MicroTime `json:"termEndsAt,omitempty"`
	// Extended: a holder has moved TermEndsAt.
	Extended bool `json:"extended,omitempty"`
	// MaxEndsAt is the end that extensions cannot exceed; nil: no limit.
	MaxEndsAt *metav1.MicroTime `json:"maxEndsAt,omitempty"`
	// Publisher provisioned a deployment under the lease for others to check out; Available is set
	// while it is not checked out.
	Publisher string `json:"publisher,omitempty"`
	Available bool   `json:"available,omitempty"`
	// PublisherUser is the User of the publisher, who gets the lease back at checkin.
	PublisherUser string `json:"publisherUser,omitempty"`
	// ProvisionedBy is the token under which the deployment was provisioned; a checkout has a
	// newer token.
	ProvisionedBy int64 `json:"provisionedBy,omitempty"`
	// Notice asks the holder to release the lease early.
	Notice *Notice `json:"notice,omitempty"`
}

// Offered reports whether the lease is not claimed yet.
func (l *Lease) Offered() bool { return l != nil && l.ClaimedAt == nil }

// +k8s:deepcopy-gen=true

// Notice asks a holder to release a lease by a time.
type Notice struct {
	By     string           `json:"by"`
	At     metav1.MicroTime `json:"at"`
	Reason string           `json:"reason,omitempty"`
}

// +k8s:deepcopy-gen=true

// DirtyInfo says why a reservation must be cleaned.
type DirtyInfo struct {
	Since metav1.MicroTime `json:"since"`
	// Holder of the lease that left it dirty.
	Holder string `json:"holder,omitempty"`
	// Token is the highest token granted until then, that of the lease that left it dirty. A deployment with a higher one is
	// of a lease that this store does not know. 0: unknown.
	Token  int64  `json:"token,omitempty"`
	Reason string `json:"reason"`
	// Attempts counts failed cleanings; Failure is the reason of the last one.
	Attempts int    `json:"attempts,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// ManualOnly: only an operator may clean it, because it was in use without a known holder.
	ManualOnly bool `json:"manualOnly,omitempty"`
}

// +k8s:deepcopy-gen=true

// Event is one line of the history of a reservation.
type Event struct {
	N     int64            `json:"n"`
	At    metav1.MicroTime `json:"at"`
	Type  EventType        `json:"type"`
	State State            `json:"state"`
	Actor string           `json:"actor,omitempty"`
	// User is the authenticated user that wrote the line; Actor is the holder whose lease or
	// ticket it concerns. Empty: unknown.
	User string `json:"user,omitempty"`
	// Token of the lease concerned; 0 if there was no lease.
	Token  int64  `json:"token,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// EventType says what happened.
type EventType string

// Event types.
const (
	Queued       EventType = "queued"
	Offered      EventType = "offered"
	Claimed      EventType = "claimed"
	Extended     EventType = "extended"
	Notified     EventType = "notified"
	Released     EventType = "released"
	Expired      EventType = "expired"
	Evicted      EventType = "evicted"
	Published    EventType = "published" // the deployment may be checked out
	CheckedOut   EventType = "checked-out"
	CheckedIn    EventType = "checked-in"
	Cancelled    EventType = "cancelled"      // the waiter cancelled its ticket
	WaitTimedOut EventType = "wait-timed-out" // no heartbeat, or the offer was not claimed
	Yielded      EventType = "yielded"        // the offer to a group went to a ticket ahead of it
	Returned     EventType = "returned"       // an incomplete group returned it unused
	CleanStarted EventType = "clean-started"
	Cleaned      EventType = "cleaned"
	CleanFailed  EventType = "clean-failed"
	Restored     EventType = "restored"    // an operator confirmed that the store was restored from a backup
	Quarantined  EventType = "quarantined" // it was in use without a lease
)

// CurrentState returns the state; an empty record is free.
func (r *Record) CurrentState() State {
	if r.State == "" {
		return Free
	}
	return r.State
}

func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t.Truncate(time.Microsecond)) }

func timePtr(t time.Time) *metav1.MicroTime {
	m := micro(t)
	return &m
}

func (r *Record) addEvent(now time.Time, what EventType, who string, token int64, reason string) {
	r.Events++
	r.Recent = append(r.Recent, Event{N: r.Events, At: micro(now), Type: what, State: r.CurrentState(), Actor: Trim(who, maxName), Token: token, Reason: TrimReason(reason)})
}
