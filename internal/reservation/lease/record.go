package lease

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is where a reservation is in its circle.
type State string

// The states.
const (
	Free     State = "free"
	Leased   State = "leased" // offered or held
	Dirty    State = "dirty"
	Cleaning State = "cleaning"
)

// Record is all that is known of a reservation's leases. Its zero value is free.
type Record struct {
	State State `json:"state,omitempty"`
	// Token is the highest that was ever granted.
	Token int64 `json:"token,omitempty"`
	// Lease is the one that is offered, held or cleaned under.
	Lease *Lease `json:"lease,omitempty"`
	// Dirt says why the reservation is dirty, also while it is cleaned.
	DirtyInfo *DirtyInfo `json:"dirtyInfo,omitempty"`
	// Queue are those who wait, first come first.
	Queue []Ticket `json:"queue,omitempty"`
	// Transitions is how many there were ever; Recent are the newest, oldest first.
	Events int64   `json:"events,omitempty"`
	Recent History `json:"recent,omitempty"`
}

// Ticket is somebody's place in a queue.
type Ticket struct {
	// ID is made by who asks, so that a request that is sent twice is one ticket.
	ID     string `json:"id"`
	Holder string `json:"holder"`
	// User is the user that asked, as the API server authenticated them; empty: written by
	// a version that did not record it.
	User string `json:"user,omitempty"`
	// Purpose is what the lease is for, in the holder's words: training, v1.4.0/inference.
	Purpose string `json:"purpose,omitempty"`
	// Class names a priority; the higher Priority is served first.
	Class    string `json:"class,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// Since is when it was asked for; with Group, the same in each reservation.
	QueuedAt metav1.MicroTime `json:"queuedAt"`
	// Period is within what time a waiter, and then a holder, has to be heard of again;
	// 0: a holder is not heard of until Term is over.
	RenewInterval metav1.Duration `json:"renewInterval,omitzero"`
	// Patience is the Period of those who wait where it is another.
	WaitTimeout metav1.Duration `json:"waitTimeout,omitzero"`
	// Term is how long the lease lasts from its claim; 0: as long as it is renewed.
	Term metav1.Duration `json:"term,omitzero"`
	// Limit is how long it may last with extensions.
	MaxTerm metav1.Duration `json:"maxTerm,omitzero"`
	// Group are the reservations that are taken together, this one too; empty: this one alone.
	Group []string `json:"group,omitempty"`
	// Heard counts how often the waiter was heard of.
	Heartbeats int64 `json:"heartbeats,omitempty"`
}

// Lease is exclusive use of a reservation.
type Lease struct {
	Ticket
	Token     int64            `json:"token"`
	GrantedAt metav1.MicroTime `json:"grantedAt"`
	// Claimed is when the holder took what was offered; nil while it is offered.
	ClaimedAt *metav1.MicroTime `json:"claimedAt,omitempty"`
	// Until is when it ends unless it is renewed or extended; nil: offered.
	ExpiresAt *metav1.MicroTime `json:"expiresAt,omitempty"`
	// Ends is the end that renewals can not pass; nil: there is none.
	TermEndsAt *metav1.MicroTime `json:"termEndsAt,omitempty"`
	// Last is the end that extensions can not pass; nil: there is none.
	MaxEndsAt *metav1.MicroTime `json:"maxEndsAt,omitempty"`
	// Opener stood something up under the lease for others to use; Open while nobody has
	// taken it.
	Publisher string `json:"publisher,omitempty"`
	Available bool   `json:"available,omitempty"`
	// OpenerUser is the User of the opener, who has the lease again when it is handed back.
	PublisherUser string `json:"publisherUser,omitempty"`
	// Stands is the token under which it was stood up: who takes it over has another.
	ProvisionedBy int64 `json:"provisionedBy,omitempty"`
	// Notice asks the holder to end earlier.
	Notice *Notice `json:"notice,omitempty"`
}

// Offered tells that the holder has not yet taken the lease.
func (l *Lease) Offered() bool { return l != nil && l.ClaimedAt == nil }

// Notice asks a holder to be gone by a time.
type Notice struct {
	By     string           `json:"by"`
	At     metav1.MicroTime `json:"at"`
	Reason string           `json:"reason,omitempty"`
}

// Dirt is why a reservation has to be cleaned.
type DirtyInfo struct {
	Since metav1.MicroTime `json:"since"`
	// Holder and Token are of the lease that left it.
	Holder string `json:"holder,omitempty"`
	Token  int64  `json:"token,omitempty"`
	Reason string `json:"reason"`
	// Attempts to clean it failed, the last for Failure.
	Attempts int    `json:"attempts,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// ByHand: nobody but who was told to may clean it. It was found in use, and nobody
	// knows by whom.
	ManualOnly bool `json:"manualOnly,omitempty"`
}

// Transition is one line of a reservation's history.
type Event struct {
	N     int64            `json:"n"`
	At    metav1.MicroTime `json:"at"`
	Type  EventType        `json:"type"`
	State State            `json:"state"`
	Actor string           `json:"actor,omitempty"`
	// By is the user that wrote the line, as the API server authenticated them; Who is the
	// holder that it happened to. Empty: unknown.
	User string `json:"user,omitempty"`
	// Token is that of the lease it happened to; 0 where there was none.
	Token  int64  `json:"token,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// What happened.
type EventType string

// What can happen.
const (
	Queued       EventType = "queued"
	Offered      EventType = "offered"
	Claimed      EventType = "claimed"
	Extended     EventType = "extended"
	Notified     EventType = "notified"
	Released     EventType = "released"
	Expired      EventType = "expired"
	Evicted      EventType = "evicted"
	Published    EventType = "published" // what stands under it may be used by who takes it
	CheckedOut   EventType = "checked-out"
	CheckedIn    EventType = "checked-in"
	Cancelled    EventType = "cancelled"      // a waiter cancelled its ticket
	WaitTimedOut EventType = "wait-timed-out" // a waiter was not heard of, or did not claim what it was offered
	Yielded      EventType = "yielded"        // what was offered to a group went to somebody before it
	Returned     EventType = "returned"       // a group that did not get all gave it back unused
	CleanStarted EventType = "clean-started"
	Cleaned      EventType = "cleaned"
	CleanFailed  EventType = "clean-failed"
	Restored     EventType = "restored"    // an operator confirmed that the store was restored from a backup
	Quarantined  EventType = "quarantined" // somebody found it in use without a lease
)

// Now is the state, free where none was written yet.
func (r *Record) CurrentState() State {
	if r.State == "" {
		return Free
	}
	return r.State
}

// Clone is a deep copy.
func (r *Record) Clone() *Record {
	c := *r
	if c.Lease = clone(r.Lease); c.Lease != nil {
		l := c.Lease
		l.Group, l.Notice = slices.Clone(l.Group), clone(l.Notice)
		l.ClaimedAt, l.ExpiresAt, l.TermEndsAt, l.MaxEndsAt = clone(l.ClaimedAt), clone(l.ExpiresAt), clone(l.TermEndsAt), clone(l.MaxEndsAt)
	}
	c.DirtyInfo = clone(r.DirtyInfo)
	c.Queue = slices.Clone(r.Queue)
	for i := range c.Queue {
		c.Queue[i].Group = slices.Clone(c.Queue[i].Group)
	}
	c.Recent = slices.Clone(r.Recent)
	return &c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t.Truncate(time.Microsecond)) }

func timePtr(t time.Time) *metav1.MicroTime {
	m := micro(t)
	return &m
}

// note adds a line to the history.
func (r *Record) addEvent(now time.Time, what EventType, who string, token int64, reason string) {
	r.Events++
	r.Recent = append(r.Recent, Event{N: r.Events, At: micro(now), Type: what, State: r.CurrentState(), Actor: who, Token: token, Reason: reason})
}
