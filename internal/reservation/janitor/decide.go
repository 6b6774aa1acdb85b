package janitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Verdict is what becomes of something that was found.
type Verdict string

// The verdicts.
const (
	Kept    Verdict = "kept"
	Remove  Verdict = "to remove"
	Removed Verdict = "removed"
	// Blocked: it can't be known, or it can't be removed as things are.
	Blocked Verdict = "blocked"
	Failed  Verdict = "failed"
)

// Decision says what becomes of a deployment, or, without one, of a cloud.
type Decision struct {
	Cloud      config.Cloud   `json:"cloud"`
	Deployment *hook.Deployment `json:"deployment,omitempty"`
	Verdict    Verdict          `json:"verdict"`
	Reason        string           `json:"reason"`
}

// View is all that a decision is made from.
type View struct {
	Now time.Time
	// OlderThan is the age below which nothing is removed.
	OlderThan  time.Duration
	Owner      string
	Deployment hook.Deployment
	// Record is that of the deployment's reservation; nil: the store has none.
	Record *lease.Record
	// Known: the registry has the reservation.
	Known bool
	// Ended is when the deployment's lease ended, and how; nil: the history does not say.
	Ended *lease.Event
	// Cleaning is the token of the cleaning lease that is held by who decides; 0: none.
	Cleaning int64
}

// Decide is pure.
func Decide(v View) (Verdict, string) {
	d := v.Deployment
	switch {
	case d.Owner == "":
		return Kept, "it has no owner label: it is not ours"
	case d.Owner != v.Owner:
		return Kept, fmt.Sprintf("its owner is %s: it is not ours", d.Owner)
	case d.Reservation == "" || d.Token == 0:
		return Kept, "it is not labelled with its reservation and its lease: what it belongs to can't be known"
	case v.Record == nil || !v.Known:
		return Kept, fmt.Sprintf("reservation %s is not in the store and the registry: whether it is used can't be known", d.Reservation)
	}
	if verdict, reason := v.leaseVerdict(); verdict != "" {
		return verdict, reason
	}
	switch age := v.Now.Sub(d.Created); {
	case d.Created.IsZero():
		return Kept, "it is not labelled with when it was created: its age can't be known"
	case age < v.OlderThan:
		return Kept, fmt.Sprintf("it is younger than %s: created %s ago", v.OlderThan, age.Round(time.Second))
	}
	return v.unleasedVerdict()
}

// held keeps what a lease is live for.
func (v View) leaseVerdict() (Verdict, string) {
	d, l := v.Deployment, v.Record.Lease
	switch {
	case l == nil || v.Record.CurrentState() == lease.Leased && l.Offered():
		return "", ""
	case l.Token == d.Token && v.Record.CurrentState() == lease.Leased:
		return Kept, fmt.Sprintf("lease %d of %s is live", l.Token, l.Holder)
	case l.ProvisionedBy == d.Token && v.Record.CurrentState() == lease.Leased:
		return Kept, fmt.Sprintf("it stands for people, under lease %d of %s", l.Token, l.Holder)
	case v.Record.CurrentState() == lease.Cleaning && l.Token == v.Cleaning:
		return "", ""
	case v.Record.CurrentState() == lease.Cleaning:
		return Kept, fmt.Sprintf("%s is cleaning the reservation, under lease %d", l.Holder, l.Token)
	default:
		return Blocked, fmt.Sprintf("its lease %d %s, and %s has the reservation under lease %d: two may be using one reservation. It can be removed when that lease has ended",
			d.Token, v.endText(), l.Holder, l.Token)
	}
}

// free decides of what no lease is live for.
func (v View) unleasedVerdict() (Verdict, string) {
	d, r := v.Deployment, v.Record
	switch {
	case v.Cleaning == 0 && d.Token > r.Token:
		return Blocked, fmt.Sprintf("its lease %d is newer than any that the store knows, %d: the store was restored from a backup, and its holder may be alive. It can be removed when the reservation is dirty: firstlight reservation renew %s --grant %d makes it so",
			d.Token, r.Token, d.Reservation, d.Token)
	case v.Cleaning == 0 && r.CurrentState() == lease.Dirty && r.DirtyInfo != nil && r.DirtyInfo.ManualOnly:
		return Blocked, fmt.Sprintf("its lease %d %s; the reservation waits for somebody: firstlight reservation rotation down --reservation %s", d.Token, v.endText(), d.Reservation)
	default:
		return Remove, fmt.Sprintf("its lease %d %s", d.Token, v.endText())
	}
}

func (v View) endText() string {
	if v.Ended == nil {
		return "is over, since before what the history has"
	}
	text := fmt.Sprintf("ended at %s: %s", v.Ended.At.UTC().Format(time.RFC3339), v.Ended.Type)
	if v.Ended.Reason != "" {
		text += ", " + v.Ended.Reason
	}
	return text
}

// goesOn are transitions of a lease that do not end it.
var nonEnding = []lease.EventType{lease.Offered, lease.Claimed, lease.Notified, lease.Extended, lease.Published, lease.CheckedOut, lease.CheckedIn}

// endOf finds the end of a lease in a history.
func endOf(history []lease.Event, token int64) *lease.Event {
	for _, t := range slices.Backward(history) {
		if t.Token == token && !slices.Contains(nonEnding, t.Type) {
			return &t
		}
	}
	return nil
}
