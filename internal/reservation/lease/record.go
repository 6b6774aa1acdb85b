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
	Dirt *Dirt `json:"dirt,omitempty"`
	// Queue are those who wait, first come first.
	Queue []Ticket `json:"queue,omitempty"`
	// Transitions is how many there were ever; Recent are the newest, oldest first.
	Transitions int64   `json:"transitions,omitempty"`
	Recent      History `json:"recent,omitempty"`
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
	Since metav1.MicroTime `json:"since"`
	// Period is within what time a waiter, and then a holder, has to be heard of again;
	// 0: a holder is not heard of until Term is over.
	Period metav1.Duration `json:"period,omitzero"`
	// Patience is the Period of those who wait where it is another.
	Patience metav1.Duration `json:"patience,omitzero"`
	// Term is how long the lease lasts from its claim; 0: as long as it is renewed.
	Term metav1.Duration `json:"term,omitzero"`
	// Limit is how long it may last with extensions.
	Limit metav1.Duration `json:"limit,omitzero"`
	// Group are the reservations that are taken together, this one too; empty: this one alone.
	Group []string `json:"group,omitempty"`
	// Heard counts how often the waiter was heard of.
	Heard int64 `json:"heard,omitempty"`
}

// Lease is exclusive use of a reservation.
type Lease struct {
	Ticket
	Token   int64            `json:"token"`
	Granted metav1.MicroTime `json:"granted"`
	// Claimed is when the holder took what was offered; nil while it is offered.
	Claimed *metav1.MicroTime `json:"claimed,omitempty"`
	// Until is when it ends unless it is renewed or extended; nil: offered.
	Until *metav1.MicroTime `json:"until,omitempty"`
	// Ends is the end that renewals can not pass; nil: there is none.
	Ends *metav1.MicroTime `json:"ends,omitempty"`
	// Last is the end that extensions can not pass; nil: there is none.
	Last *metav1.MicroTime `json:"last,omitempty"`
	// Opener stood something up under the lease for others to use; Open while nobody has
	// taken it.
	Opener string `json:"opener,omitempty"`
	Open   bool   `json:"open,omitempty"`
	// OpenerUser is the User of the opener, who has the lease again when it is handed back.
	OpenerUser string `json:"openerUser,omitempty"`
	// Stands is the token under which it was stood up: who takes it over has another.
	Stands int64 `json:"stands,omitempty"`
	// Notice asks the holder to end earlier.
	Notice *Notice `json:"notice,omitempty"`
}

// Offered tells that the holder has not yet taken the lease.
func (l *Lease) Offered() bool { return l != nil && l.Claimed == nil }

// Notice asks a holder to be gone by a time.
type Notice struct {
	By  string           `json:"by"`
	At  metav1.MicroTime `json:"at"`
	Why string           `json:"why,omitempty"`
}

// Dirt is why a reservation has to be cleaned.
type Dirt struct {
	Since metav1.MicroTime `json:"since"`
	// Holder and Token are of the lease that left it.
	Holder string `json:"holder,omitempty"`
	Token  int64  `json:"token,omitempty"`
	Why    string `json:"why"`
	// Attempts to clean it failed, the last for Failure.
	Attempts int    `json:"attempts,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// ByHand: nobody but who was told to may clean it. It was found in use, and nobody
	// knows by whom.
	ByHand bool `json:"byHand,omitempty"`
}

// Transition is one line of a reservation's history.
type Transition struct {
	N    int64            `json:"n"`
	At   metav1.MicroTime `json:"at"`
	What What             `json:"what"`
	To   State            `json:"to"`
	Who  string           `json:"who,omitempty"`
	// By is the user that wrote the line, as the API server authenticated them; Who is the
	// holder that it happened to. Empty: unknown.
	By string `json:"by,omitempty"`
	// Token is that of the lease it happened to; 0 where there was none.
	Token int64  `json:"token,omitempty"`
	Why   string `json:"why,omitempty"`
}

// What happened.
type What string

// What can happen.
const (
	Queued      What = "queued"
	Offered     What = "offered"
	Claimed     What = "claimed"
	Extended    What = "extended"
	Noticed     What = "noticed"
	Released    What = "released"
	Expired     What = "expired"
	Evicted     What = "evicted"
	Opened      What = "opened" // what stands under it may be used by who takes it
	Taken       What = "taken"
	HandedBack  What = "handed-back"
	Left        What = "left"     // a waiter cancelled its ticket
	Lost        What = "lost"     // a waiter was not heard of, or did not claim what it was offered
	Yielded     What = "yielded"  // what was offered to a group went to somebody before it
	Returned    What = "returned" // a group that did not get all gave it back unused
	CleanBegun  What = "cleaning"
	Cleaned     What = "cleaned"
	CleanFailed What = "clean-failed"
	Restored    What = "restored" // an operator confirmed that the store was restored from a backup
	Blocked     What = "blocked"  // somebody found it in use without a lease
)

// Now is the state, free where none was written yet.
func (r *Record) Now() State {
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
		l.Claimed, l.Until, l.Ends, l.Last = clone(l.Claimed), clone(l.Until), clone(l.Ends), clone(l.Last)
	}
	c.Dirt = clone(r.Dirt)
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

func at(t time.Time) *metav1.MicroTime {
	m := micro(t)
	return &m
}

// note adds a line to the history.
func (r *Record) note(now time.Time, what What, who string, token int64, why string) {
	r.Transitions++
	r.Recent = append(r.Recent, Transition{N: r.Transitions, At: micro(now), What: what, To: r.Now(), Who: who, Token: token, Why: why})
}
