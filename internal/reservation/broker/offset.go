package broker

import (
	"fmt"
	"time"
)

// maxClockOffset is the greatest difference of clocks with which terms are granted and ended. Kerberos allows the same
// (krb5.conf, clockskew).
const maxClockOffset = 5 * time.Minute

// ClockError means that the clock of this machine is wrong, or that of the API server: a term would end at another
// time than its holder reads.
type ClockError struct {
	// Offset of the API server's clock from that of this machine.
	Offset time.Duration
}

func (e *ClockError) Error() string {
	how := "behind"
	if e.Offset < 0 {
		how = "ahead of"
	}
	return fmt.Sprintf("the clock of this machine is %s %s that of the API server of the store: set it", e.Offset.Abs().Round(time.Second), how)
}

// CheckClock returns a ClockError while terms are not granted and ended.
func (b *Broker) CheckClock() error { return b.checkClock() }

// checkClock refuses a clock that differs from that of the API server at its last response. A simulated time is ahead
// of the machine's and does not count.
func (b *Broker) checkClock() error {
	s, measures := b.store.(interface{ ClockOffset() time.Duration })
	if !measures {
		return nil
	}
	if d := s.ClockOffset(); d.Abs() > maxClockOffset {
		return &ClockError{Offset: d}
	}
	return nil
}
