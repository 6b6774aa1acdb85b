package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
)

const (
	remedyFirmware = "flash one firmware on all adapters of the type (mlxfwmanager, or the server vendor's tool), reset or reboot, then run again: firstlight accept --from fabric"
	remedyUnnamed  = "look at the adapter (ibstat, ibv_devinfo, mlxfwmanager --query, dmesg), then run again: firstlight accept --from fabric"
)

// judgeFirmware requires the same firmware on all adapters of a type. Each board has its own
// releases, so a known board is part of the type.
func judgeFirmware(b *check.Builder, adapters []adapter) {
	types, boarded := map[string][]uniform.Sample{}, map[string]bool{} // boarded: types with a known board
	for _, a := range adapters {
		boarded[a.hca.Type] = boarded[a.hca.Type] || a.board() != ""
	}
	for _, a := range adapters {
		if a.unobserved {
			continue // reported for the host; the board is unknown
		}
		if a.hca.Firmware == "" || a.hca.Type == "" {
			b.Unobserved(a.ibstatObs.ID, a.name, remedyUnnamed, "ibstat shows no firmware or type of %s", a.name)
			continue
		}
		kind := a.hca.Type
		switch board := a.board(); {
		case board != "":
			kind += ", board " + board
		case boarded[kind] && a.device == nil:
			continue // reported by judgeMTU, or by judgePorts as down
		case boarded[kind]:
			b.Unobserved(a.verbsObs.ID, a.name, remedyUnnamed, "ibv_devinfo shows no board of %s, but shows those of other adapters of its type", a.name)
			continue
		}
		types[kind] = append(types[kind], uniform.Sample{Adapter: a.name, Value: a.hca.Firmware, Observation: a.ibstatObs})
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		uniform.Require(b, types[kind], "firmware", "adapters of type "+kind, remedyFirmware)
	}
}
