package simulation

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// quietDay: people check out, check in and extend as intended.
func quietDay() scene {
	return scene{
		name: "quiet", title: "people check out, check in and extend",
		events: func(m time.Time) []*event {
			return []*event{
				checkout(clockTime(m, 16, 0), trainingCloud, "ada"), checkin(clockTime(m, 18, 0), trainingCloud, "ada"),
				checkout(clockTime(m, 19, 0), trainingCloud, "bob"), checkin(clockTime(m, 23, 0), trainingCloud, "bob"),
				checkout(clockTime(m, 17, 0), inferenceCloud, "carol"),
				extend(clockTime(m, 23, 30), inferenceCloud, "carol", 30*time.Minute),
				checkin(clockTime(m, 2, 45), inferenceCloud, "carol"),
			}
		},
		expect: func(m dayRecord) []Finding {
			out := m.allWell()
			out = append(out, m.happened(trainingCloud, "ada", lease.CheckedOut, lease.CheckedIn)...)
			out = append(out, m.happened(trainingCloud, "bob", lease.CheckedOut, lease.CheckedIn)...)
			out = append(out, m.happened(inferenceCloud, "carol", lease.CheckedOut, lease.Extended, lease.CheckedIn)...)
			if row := m.row(m.down, inferenceCloud); row.Attempts < 2 {
				out = append(out, newFinding("evening-down of "+inferenceCloud, "carol had extended, but it was done at once"))
			}
			return out
		},
	}
}

// forgotten: a person checks out a deployment and never returns it.
func forgotten() scene {
	return scene{
		name: "forgotten", title: "a person forgets to check in",
		events: func(m time.Time) []*event {
			return []*event{checkout(clockTime(m, 16, 30), trainingCloud, "dave")}
		},
		expect: func(m dayRecord) []Finding {
			out := append(m.allWell(), m.happened(trainingCloud, "dave", lease.CheckedOut, lease.Notified)...)
			if !m.any(trainingCloud, "dave", lease.Expired, lease.Evicted) {
				out = append(out, newFinding(trainingCloud, "dave did not check in, but the lease was not ended"))
			}
			return out
		},
	}
}

// fullQueue: many people queue; one cancels, one never releases, and one wants two reservations
// before the batch.
func fullQueue() scene {
	return scene{
		name: "full-queue", title: "a full queue: one cancels, one never releases, one wants two reservations",
		events: func(m time.Time) []*event {
			at := func(minute int) time.Time { return clockTime(m, 16, minute) }
			return []*event{
				queue(at(0), "erin", 40*time.Minute, byHandOnly), queue(at(1), "frank", 40*time.Minute, byHandOnly),
				queue(at(2), "grace", 40*time.Minute, byHandOnly), queue(at(3), "heidi", never, byHandOnly),
				queue(at(4), "ivan", 40*time.Minute, byHandOnly),
				giveUp(at(20), "grace"),
				queue(clockTime(m, 3, 10), "judy", 10*time.Minute, byHandOnly, inferenceCloud),
			}
		},
		expect: func(m dayRecord) []Finding {
			out := m.allWell()
			for _, who := range []string{"erin", "frank", "ivan", "judy"} {
				out = append(out, m.happened(byHandOnly, who, lease.Queued, lease.Claimed, lease.Released)...)
			}
			out = append(out, m.happened(inferenceCloud, "judy", lease.Queued, lease.Claimed, lease.Released)...)
			out = append(out, m.happened(byHandOnly, "grace", lease.Queued, lease.Cancelled)...)
			out = append(out, m.happened(byHandOnly, "heidi", lease.Claimed, lease.Expired)...)
			return append(out, m.inOrder(byHandOnly, "erin", "frank", "heidi", "ivan", "judy")...)
		},
	}
}

// never: the reservations are not released.
const never = time.Duration(0)

func checkout(at time.Time, reservation, who string) *event {
	return &event{at: at, what: who + " checks out " + reservation, do: func(ctx context.Context, p *runner) error {
		l, err := p.broker.Checkout(ctx, reservation, lease.Ticket{Holder: who, Purpose: "debugging NCCL"})
		p.remember(who, l.Token)
		return err
	}}
}

func checkin(at time.Time, reservation, who string) *event {
	return &event{at: at, what: who + " checks in " + reservation + "", do: func(ctx context.Context, p *runner) error {
		return p.broker.Checkin(ctx, reservation, p.recall(who), "done")
	}}
}

func extend(at time.Time, reservation, who string, by time.Duration) *event {
	return &event{at: at, what: who + " extends " + reservation, do: func(ctx context.Context, p *runner) error {
		_, err := p.broker.Extend(ctx, reservation, p.recall(who), by, "one more run")
		return err
	}}
}
