package preflight

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

// controllerFacts are the observations of one Redfish controller.
type controllerFacts struct {
	controller site.Redfish
	reading    redfish.Reading
	err        error
}

// observeControllers reads several controllers at a time.
func observeControllers(ctx context.Context, controllers []site.Redfish, read func(context.Context, site.Redfish) (redfish.Reading, error)) []controllerFacts {
	out := make([]controllerFacts, len(controllers))
	var work errgroup.Group
	work.SetLimit(controllersAtOnce)
	for i, c := range controllers {
		work.Go(func() error {
			own, cancel := context.WithTimeout(ctx, areaWithin)
			defer cancel()
			reading, err := read(own, c)
			out[i] = controllerFacts{c, reading, ofTarget(ctx, own, err)}
			return nil
		})
	}
	_ = work.Wait() // no function returns an error
	return out
}

const remedyController = "look at the log of the controller, restart it (Manager.Reset) or update its firmware"

// judgeFacility judges what gate facility needs in addition to power: access to the controllers and the
// sign-off.
func judgeFacility(facts []controllerFacts, s site.SignOff, now time.Time) []Line {
	var out []Line
	for _, f := range facts {
		if errors.Is(f.err, errOutOfTime) {
			out = append(out, unobserved("Redfish", f.controller.Name, remedyTime, "%v", f.err))
			continue
		}
		if errors.Is(f.err, errHung) {
			out = append(out, stop("Redfish", f.controller.Name, remedyController, "%v", f.err))
			continue
		}
		if f.err != nil {
			out = append(out, stop("Redfish", f.controller.Name, "check the controller's URL, user, passwordFile and caFile in the site file, and its network connection", "%v", f.err))
			continue
		}
		if err := f.reading.Unread(); err != nil {
			out = append(out, stop("Redfish", f.controller.Name, remedyController, "%v", err))
			continue
		}
		out = append(out, ok("Redfish", f.controller.Name, "logged in; it lists %d PDUs and %d chassis of the site", len(f.reading.PDUs), len(f.reading.Chassis)))
	}
	if err := s.InForce(now); err != nil {
		return append(out, stop("sign-off", "facility.signOff", "have the facility's owner sign (by, role, reference, at, expires)", "%v", err))
	}
	return append(out, ok("sign-off", "facility.signOff", "by %s, until %s", s.By, s.Expires))
}
