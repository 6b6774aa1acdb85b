package fabric

import (
	"maps"
	"slices"
)

const (
	remedyFirmware = "flash one firmware on all adapters of the type (mlxfwmanager, or the server vendor's tool), reset or reboot, then walk again: firstlight accept --from fabric"
	remedyUnnamed  = "look at the adapter (ibstat, ibv_devinfo, mlxfwmanager --query, dmesg), then walk again: firstlight accept --from fabric"
)

// judgeFirmware demands one firmware of all adapters of a type. Boards of one chip have
// releases of their own, so the board is part of the type where it is known.
func judgeFirmware(v *verdict, adapters []adapter) {
	types, boarded := map[string][]sample{}, map[string]bool{} // boarded: types of which a board is known
	for _, a := range adapters {
		boarded[a.hca.Type] = boarded[a.hca.Type] || a.board() != ""
	}
	for _, a := range adapters {
		if a.unobserved {
			continue // reported for the host; its board is not known
		}
		if a.hca.Firmware == "" || a.hca.Type == "" {
			v.miss(a.ibstatObs, a.name, "ibstat shows no firmware or type of "+a.name, remedyUnnamed)
			continue
		}
		kind := a.hca.Type
		switch board := a.board(); {
		case board != "":
			kind += ", board " + board
		case boarded[kind] && a.device == nil:
			continue // judgeMTU says so, or judgePorts that it is down
		case boarded[kind]:
			v.miss(a.verbsObs, a.name, "ibv_devinfo shows no board of "+a.name+", as it does of others of its type", remedyUnnamed)
			continue
		}
		types[kind] = append(types[kind], sample{a.name, a.hca.Firmware, a.ibstatObs})
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		v.uniform(types[kind], "firmware", "adapters of type "+kind, remedyFirmware)
	}
}
