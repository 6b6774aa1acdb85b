package report

import "github.com/prometheus/client_golang/prometheus"

// descs has all metrics.
var descs []*prometheus.Desc

func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("firstlight_"+name, help, labels, nil)
	descs = append(descs, d)
	return d
}

var (
	storeUp = desc("reservation_store_up", "1 if the reservation store was read, 0 if it could not be read; then no other metric is present.")

	state      = desc("reservation_state", "1 for the current state of the reservation, 0 for the others.", "reservation", "cloud", "state")
	holderInfo = desc("reservation_holder_info", "1 for the holder or cleaner of the reservation; absent when it has none.", "reservation", "holder", "class")
	leaseUntil = desc("reservation_lease_until_timestamp_seconds", "When the lease expires unless it is renewed or extended.", "reservation")
	leaseEnds  = desc("reservation_lease_ends_timestamp_seconds", "When the term of the lease ends unless it is extended; absent for a lease without a term.", "reservation")
	highest    = desc("reservation_token", "Highest token granted: the time of the grant in milliseconds since 1970, or slightly more.", "reservation")

	queueLength  = desc("reservation_queue_length", "Number of queued requests.", "reservation")
	oldestWaiter = desc("reservation_oldest_waiter_seconds", "Age in seconds of the oldest queued request; absent when the queue is empty.", "reservation")

	dirtySince    = desc("reservation_dirty_since_timestamp_seconds", "When the reservation became dirty; absent when it is clean.", "reservation")
	cleanAttempts = desc("reservation_clean_attempts", "Number of failed cleanings since the reservation became dirty.", "reservation")
	blocked       = desc("reservation_blocked", "1 if the reservation is quarantined: a deployment without a lease was found, and an operator must clean it.", "reservation")

	transitionsTotal = desc("reservation_events_total", "Events in the complete history of the reservation, by type.", "reservation", "type")

	handOverLast    = desc("handover_last_timestamp_seconds", "Due time of the newest hand-over of a schedule entry by result: done, failed or running.", "entry", "result")
	handOverFailed  = desc("handover_failed", "1 if the newest finished hand-over of an entry failed.", "entry")
	handOverOverdue = desc("handover_overdue", "1 if the newest hand-over of an entry is unfinished after its window.", "entry")
	batchCells      = desc("batch_cells", "Cells of the newest batch of an entry, by outcome.", "entry", "reservation", "outcome")
)
