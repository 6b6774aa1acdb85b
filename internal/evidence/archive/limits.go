package archive

import "cmp"

const (
	// maxProblems is the number of problems after which reading stops.
	maxProblems = 100
	// maxName is the maximum length of a name in an archive, in bytes; maxShown is the
	// length of the part that a message shows.
	maxName  = 512
	maxShown = 200
)

// Limits limit the content of an archive. Zero values are the defaults.
type Limits struct {
	Files int   // 100,000
	File  int64 // bytes of one file: 256 MiB; stored output has at most 64 MiB
	Total int64 // bytes of all files: 4 GiB
}

func (l Limits) withDefaults() Limits {
	l.Files = cmp.Or(l.Files, 100_000)
	l.File = cmp.Or(l.File, 256<<20)
	l.Total = cmp.Or(l.Total, 4<<30)
	return l
}
