package proctree

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// MaxSleep bounds a sleep that must end soon after the machine was suspended: timers stand still in
// that time.
const MaxSleep = time.Second

// Suspended returns for how long the machine was suspended since its start. Time of package time
// stops meanwhile, but other machines may give a lease to another holder.
func Suspended() time.Duration {
	within, suspended := time.Duration(math.MaxInt64), time.Duration(0)
	for range 5 { // this process may be preempted between two readings
		before := clock(unix.CLOCK_MONOTONIC)
		boot := clock(unix.CLOCK_BOOTTIME)
		if took := clock(unix.CLOCK_MONOTONIC) - before; took < within {
			within, suspended = took, boot-before
		}
	}
	return suspended.Round(time.Millisecond)
}

func bootTime() time.Duration { return clock(unix.CLOCK_BOOTTIME) }

func clock(id int32) time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(id, &now) // never fails with these clocks
	return time.Duration(now.Nano())
}
