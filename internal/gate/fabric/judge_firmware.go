package fabric

import (
	"maps"
	"slices"
)

const remedyFirmware = "flash one firmware on all adapters of the type (mlxfwmanager, or the server vendor's tool), reset or reboot, then walk again: firstlight accept --from fabric"

// judgeFirmware demands one firmware of all adapters of a type. Boards of one chip have
// releases of their own, so the board is part of the type where it is known.
func judgeFirmware(v *verdict, adapters []adapter) {
	types := map[string][]sample{}
	for _, a := range adapters {
		if a.unobserved {
			continue // reported for the host; its board is not known
		}
		if a.hca.Firmware == "" {
			v.miss(a.ibstatObs, a.name, "ibstat shows no firmware of "+a.name, "look at the adapter (ibstat, mlxfwmanager --query, dmesg), then walk again: firstlight accept --from fabric")
			continue
		}
		kind := a.hca.Type
		if a.device != nil && a.device.Board != "" {
			kind += ", board " + a.device.Board
		}
		types[kind] = append(types[kind], sample{a.name, a.hca.Firmware, a.ibstatObs})
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		v.uniform(types[kind], "firmware", "adapters of type "+kind, remedyFirmware)
	}
}
