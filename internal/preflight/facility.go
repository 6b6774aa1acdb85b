package preflight

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

// controllerFacts are the observations of one Redfish controller.
type controllerFacts struct {
	controller site.Redfish
	reading    redfish.Reading
	err        error
}

func observeControllers(ctx context.Context, controllers []site.Redfish) []controllerFacts {
	var out []controllerFacts
	for _, c := range controllers {
		reading, err := redfish.Read(ctx, c)
		out = append(out, controllerFacts{c, reading, err})
	}
	return out
}

// judgeFacility judges what gate facility needs in addition to power: access to the controllers and the
// sign-off.
func judgeFacility(facts []controllerFacts, s site.SignOff, now time.Time) []Line {
	var out []Line
	for _, f := range facts {
		if f.err != nil {
			out = append(out, stop("Redfish", f.controller.Name, "check the controller's URL, user, passwordFile and caFile in the site file, and its network connection", "%v", f.err))
			continue
		}
		if err := f.reading.Unread(); err != nil {
			out = append(out, stop("Redfish", f.controller.Name, "look at the log of the controller, restart it (Manager.Reset) or update its firmware", "%v", err))
			continue
		}
		out = append(out, ok("Redfish", f.controller.Name, "logged in; it lists %d PDUs and %d chassis of the site", len(f.reading.PDUs), len(f.reading.Chassis)))
	}
	if err := s.InForce(now); err != nil {
		return append(out, stop("sign-off", "facility.signOff", "have the facility's owner sign (by, role, reference, at, expires)", "%v", err))
	}
	return append(out, ok("sign-off", "facility.signOff", "by %s, until %s", s.By, s.Expires))
}
