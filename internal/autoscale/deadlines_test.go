package autoscale

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// A setting of the site that a hop waits for lengthens its deadline.
func TestDeadlinesFollowTheSettings(t *testing.T) {
	t.Parallel()
	const slow = 10 * time.Minute
	for hop, setting := range map[string]string{snapshot.HopClean: snapshot.SettingTermination, snapshot.HopFlat: snapshot.SettingRegistration} {
		deadline := func(value time.Duration) time.Duration {
			d := &drive{chain: &Chain{}}
			d.setup.Settings = []snapshot.Setting{{Name: setting, Value: metav1.Duration{Duration: value}}}
			d.deadlines()
			return d.setup.Deadlines[hop].Duration
		}
		if got, least := deadline(slow), deadline(0); got-least != 3*slow || least < settleWithin {
			t.Errorf("hop %s: %s, and %s with %s %s", hop, least, got, setting, slow)
		}
	}
}
