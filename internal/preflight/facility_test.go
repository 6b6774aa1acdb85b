package preflight

import (
	"errors"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

func TestJudgeFacility(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	signed := site.SignOff{By: "A. Person", Role: "manager", Reference: "1", At: "2026-11-01", Expires: "2027-11-01"}
	expired := signed
	expired.Expires = "2026-11-20"
	rack := site.Redfish{Name: "rack-1"}
	require(t, "healthy", judgeFacility([]controllerFacts{{controller: rack}}, signed, now))
	require(t, "refused", judgeFacility([]controllerFacts{{controller: rack, err: errors.New("401")}}, signed, now), "would-stop Redfish rack-1: 401")
	partly := redfish.Reading{Chassis: []redfish.Chassis{{ID: "gpu-01", State: "On", Watts: 2000}, {ID: "gpu-02", Unread: "its systems: 500"}}}
	require(t, "a chassis is not read", judgeFacility([]controllerFacts{{controller: rack, reading: partly}}, signed, now), "would-stop Redfish rack-1: chassis gpu-02: its systems: 500")
	require(t, "expired", judgeFacility(nil, expired, now), "would-stop sign-off facility.signOff: expired")
}
