package footprint

import "maps"

// coalesce merges values over a chart's defaults as Helm does: mappings are merged, other
// values replaced, and null removes a default. It modifies values; the result shares memory
// with defaults and must not be modified.
func coalesce(values, defaults map[string]any) map[string]any {
	for key, usual := range defaults {
		value, stated := values[key]
		switch {
		case !stated:
			values[key] = usual
		case value == nil:
			delete(values, key)
		default:
			own, isBlock := value.(map[string]any)
			below, wasBlock := usual.(map[string]any)
			if isBlock && wasBlock {
				values[key] = coalesce(maps.Clone(own), below)
			}
		}
	}
	return values
}

// lookup returns the value at a path; nil if absent.
func lookup(v any, path []string) any {
	for _, key := range path {
		block, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = block[key]
	}
	return v
}
