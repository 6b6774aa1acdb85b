package lease

// The priority classes: who comes first in a queue.
const (
	People  = "people"
	Nightly = "nightly"
)

// PriorityOf is that of a class, the higher served first; false where there is no such
// class.
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
