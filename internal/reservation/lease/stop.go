package lease

import "time"

// MaxStopTime bounds StopTime.
const MaxStopTime = 15 * time.Second

// RenewFor is how long after its last renewal a lease may be used without another: two thirds of
// the interval. In the last third its work ends; then the lease can be given to another holder.
func RenewFor(interval time.Duration) time.Duration { return interval * 2 / 3 }

// StopTime is the time between SIGTERM and SIGKILL of work under a lease. It is less than the third
// that RenewFor leaves, so that the work has ended when the lease can be given to another holder.
func StopTime(interval time.Duration) time.Duration {
	if interval <= 0 { // not renewed
		return MaxStopTime
	}
	return min(MaxStopTime, interval/4)
}
