package report

import "github.com/prometheus/client_golang/prometheus"

// descs are all metrics.
var descs []*prometheus.Desc

func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("firstlight_"+name, help, labels, nil)
	descs = append(descs, d)
	return d
}

var (
	storeUp = desc("reservation_store_up", "1: the store of reservations was read; 0: it could not be, and nothing else is known.")

	state      = desc("reservation_state", "1 for the state that a reservation is in, 0 for the others.", "reservation", "cloud", "state")
	holderInfo = desc("reservation_holder_info", "1: who holds a reservation, or cleans it. There is no series while nobody does.", "reservation", "holder", "class")
	leaseUntil = desc("reservation_lease_until_timestamp_seconds", "When the lease ends unless its holder is heard of, or extends it.", "reservation")
	leaseEnds  = desc("reservation_lease_ends_timestamp_seconds", "When the lease ends unless it is extended. There is no series of one that lasts as long as it is renewed.", "reservation")
	highest    = desc("reservation_token", "The highest token that was granted: when, in milliseconds since 1970, or a little more.", "reservation")

	queueLength  = desc("reservation_queue_length", "How many wait.", "reservation")
	oldestWaiter = desc("reservation_oldest_waiter_seconds", "How long the one of those who wait has waited that has waited longest. There is no series while nobody waits.", "reservation")

	dirtySince    = desc("reservation_dirty_since_timestamp_seconds", "Since when the reservation has to be cleaned, also while it is. There is no series of one that has not.", "reservation")
	cleanAttempts = desc("reservation_clean_attempts", "How often it failed to clean what has to be cleaned now.", "reservation")
	blocked       = desc("reservation_blocked", "1: something was found that is no holder's, and nobody but who is told to may clean it (a missed teardown).", "reservation")

	transitionsTotal = desc("reservation_transitions_total", "What happened to a reservation, all of its history.", "reservation", "what")

	handOverLast    = desc("handover_last_timestamp_seconds", "When the newest hand-over of an entry of the schedule that came to a result was due: done, failed, or running.", "entry", "result")
	handOverFailed  = desc("handover_failed", "1: of the newest hand-over of an entry that has ended, something was not done.", "entry")
	handOverOverdue = desc("handover_overdue", "1: the newest hand-over of an entry has not ended, and its window has.", "entry")
	batchCells      = desc("batch_cells", "Cells of the newest batch of an entry, by what became of them.", "entry", "reservation", "outcome")
)
