package lease

// Priority classes, highest first.
const (
	People  = "people"
	Nightly = "nightly"
)

// PriorityOf returns the priority of a class; the highest is served first. ok is false for an
// unknown class.
func PriorityOf(class string) (int, bool) {
	switch class {
	case People:
		return 0, true
	case Nightly:
		return 10, true
	default:
		return 0, false
	}
}
