package janitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Verdict on a deployment or a cloud.
type Verdict string

// Verdicts.
const (
	Kept    Verdict = "kept"
	Remove  Verdict = "to remove"
	Removed Verdict = "removed"
	// Blocked: unknown, or it cannot be removed at present.
	Blocked Verdict = "blocked"
	Failed  Verdict = "failed"
)

// Decision is the verdict on a deployment, or, without one, on a cloud.
type Decision struct {
	Cloud      config.Cloud     `json:"cloud"`
	Deployment *hook.Deployment `json:"deployment,omitempty"`
	Verdict    Verdict          `json:"verdict"`
	Reason     string           `json:"reason"`
	// Hook is the failure of the hook that should have removed the deployment; nil: it did not fail.
	Hook *hook.FailedError `json:"hook,omitempty"`
}

// View is the complete input of a decision.
type View struct {
	Now time.Time
	// OlderThan is the minimum age for a removal.
	OlderThan  time.Duration
	Owner      string
	Deployment hook.Deployment
	// Record of the deployment's reservation; nil: not in the store.
	Record *lease.Record
	// Known: the registry has the reservation.
	Known bool
	// Ended is the event that ended the deployment's lease; nil: not in the history.
	Ended *lease.Event
	// Cleaning is the token of the caller's cleaning lease; 0: none.
	Cleaning int64
}

// Decide is a pure function of the view.
func Decide(v View) (Verdict, string) {
	d := v.Deployment
	switch {
	case d.Owner == "":
		return Kept, "it has no owner label, so another tool owns it"
	case d.Owner != v.Owner:
		return Kept, fmt.Sprintf("its owner is %s", d.Owner)
	case d.Reservation == "" || d.Token == 0:
		return Kept, "it has no label of a reservation or a lease, so its use is unknown"
	case v.Record == nil || !v.Known:
		return Blocked, fmt.Sprintf("reservation %s is not in the store and the registry, so nothing removes it: add its row again, and then firstlight reservation rotation down --reservation %s",
			d.Reservation, d.Reservation)
	}
	if verdict, reason := v.leaseVerdict(); verdict != "" {
		return verdict, reason
	}
	switch age := v.Now.Sub(d.Created); {
	case d.Created.IsZero():
		return Kept, "it has no label of its creation time, so its age is unknown"
	case age < v.OlderThan:
		return Kept, fmt.Sprintf("it is younger than %s: created %s ago", v.OlderThan, age.Round(time.Second))
	}
	return v.unleasedVerdict()
}

// leaseVerdict keeps a deployment of a live lease.
func (v View) leaseVerdict() (Verdict, string) {
	d, l := v.Deployment, v.Record.Lease
	switch {
	case l == nil || v.Record.CurrentState() == lease.Leased && l.Offered():
		return "", ""
	case l.Token == d.Token && v.Record.CurrentState() == lease.Leased:
		return Kept, fmt.Sprintf("lease %d of %s is live", l.Token, l.Holder)
	case l.ProvisionedBy == d.Token && v.Record.CurrentState() == lease.Leased:
		return Kept, fmt.Sprintf("it is published, under lease %d of %s", l.Token, l.Holder)
	case v.Record.CurrentState() == lease.Cleaning && l.Token == v.Cleaning:
		return "", ""
	case v.Record.CurrentState() == lease.Cleaning:
		return Kept, fmt.Sprintf("%s is cleaning the reservation, under lease %d", l.Holder, l.Token)
	default:
		return Blocked, fmt.Sprintf("its lease %d %s, and %s has the reservation under lease %d: both may be in use. It can be removed after that lease has ended",
			d.Token, v.endText(), l.Holder, l.Token)
	}
}

// unleasedVerdict decides about a deployment without a live lease.
func (v View) unleasedVerdict() (Verdict, string) {
	d, r := v.Deployment, v.Record
	switch {
	case v.Cleaning == 0 && d.Token > r.Token:
		return Blocked, fmt.Sprintf("its lease %d is newer than the highest known, %d: the store was restored from a backup, and its holder may be alive. It can be removed when the reservation is dirty: firstlight reservation confirm-restore %s --grant %d --why REASON makes it so",
			d.Token, r.Token, d.Reservation, d.Token)
	case r.DirtyInfo != nil && r.DirtyInfo.Token > 0 && d.Token > r.DirtyInfo.Token:
		return Blocked, lease.NeedsOperator(fmt.Sprintf("its lease %d is newer than the one that left the reservation dirty, %d: the store was restored from a backup, and its holder may be alive",
			d.Token, r.DirtyInfo.Token), d.Reservation)
	case v.Cleaning == 0 && r.CurrentState() == lease.Dirty && r.DirtyInfo != nil && r.DirtyInfo.ManualOnly:
		return Blocked, lease.NeedsOperator(fmt.Sprintf("its lease %d %s", d.Token, v.endText()), d.Reservation)
	default:
		return Remove, fmt.Sprintf("its lease %d %s", d.Token, v.endText())
	}
}

func (v View) endText() string {
	if v.Ended == nil {
		return "ended before the start of the history"
	}
	text := fmt.Sprintf("ended at %s: %s", v.Ended.At.UTC().Format(time.RFC3339), v.Ended.Type)
	if v.Ended.Reason != "" {
		text += ", " + v.Ended.Reason
	}
	return text
}

// nonEnding are the events that do not end a lease.
var nonEnding = []lease.EventType{lease.Offered, lease.Claimed, lease.Notified, lease.Extended, lease.Published, lease.CheckedOut, lease.CheckedIn}

// endOf returns the event that ended a lease.
func endOf(history []lease.Event, token int64) *lease.Event {
	for _, t := range slices.Backward(history) {
		if t.Token == token && !slices.Contains(nonEnding, t.Type) {
			return &t
		}
	}
	return nil
}
