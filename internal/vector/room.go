package vector

import (
	"errors"
	"io"
	"runtime"
	"time"
	"unsafe"

	"canopy/internal/spill"
)

// An index of which much would have to be in memory has what a search reads little of in files: the postings of all words but the few that are
// asked for, and the vectors of all chunks but those that come close.

// memoryShare is the part of the cache beyond which an index goes to files, one of so many: several large ones have room beside each other.
const memoryShare = 4

// leastMoved is from how many bytes on something gets a file.
const leastMoved = 256 << 10

// Room is where an owner's indexes have their files. A nil one has none.
type Room struct {
	cache *Cache
	owner int64
	taken int64 // bytes
	full  bool
	// bounded is for an index of words that is made to be kept alone.
	bounded bool
}

// KeepFiles has indexes that are too large for the memory lie in files of a folder. It is called before the cache is used. tell is told when the disk
// does not take what the folder has room for.
func (c *Cache) KeepFiles(folder *spill.Folder, tell func(error)) {
	c.folder, c.leastMoved, c.tell = folder, leastMoved, tell
}

// Room gives that of an owner; nil where the cache has no folder, or keeps nothing. It is for one builder.
func (c *Cache) Room(owner int64) *Room {
	if c.folder == nil || c.budget == 0 {
		return nil
	}
	return &Room{cache: c, owner: owner}
}

// mostOnDisk is how many bytes the files of indexes have at most.
func (c *Cache) mostOnDisk() int64 {
	if c.folder == nil {
		return 0
	}
	return c.folder.Most()
}

// passed tells whether an index takes so much memory that it goes to files.
func (r *Room) passed(memory int64) bool { return r != nil && memory > r.cache.budget/memoryShare }

// Bound has an index of words not be made where it takes more memory than all may, as the files have no room: the error is ErrNoRoom.
func (r *Room) Bound() {
	if r != nil {
		r.bounded = true
	}
}

// exceeded tells whether an index takes more memory than its room has.
func (r *Room) exceeded(memory int64) bool { return r != nil && r.bounded && memory > r.cache.budget }

// Holds tells whether there may be room for the index of all that an outline knows of.
func (c *Cache) Holds(o *Outline) bool {
	data := o.whole - o.bytes
	return o.whole <= c.budget || data <= c.mostOnDisk() && o.bytes+min(data, c.budget/memoryShare) <= c.budget
}

// take keeps bytes in a file. It gives nil where they are few, or where there is no room: they stay in memory then.
func (r *Room) take(b []byte) *spill.Region {
	if r == nil || r.full || len(b) < r.cache.leastMoved {
		return nil
	}
	region, err := r.cache.folder.Put(b)
	if errors.Is(err, spill.ErrFull) {
		region, err = r.cache.putInstead(b, r.owner, r.taken)
	}
	if err != nil {
		r.full = true
		if err != spill.ErrFull { //nolint:errorlint // which the disk's own wraps
			r.cache.tell(err)
		}
		return nil
	}
	r.taken += int64(len(b))
	return region
}

// make keeps so many bytes in a file as are written. It gives nil where there is no room beside what others have.
func (r *Room) make(size int64, write func(to io.Writer) error) *spill.Region {
	if r == nil {
		return nil
	}
	region, err := r.cache.folder.Make(size, write)
	if err != nil {
		if !errors.Is(err, spill.ErrFull) {
			r.cache.tell(err)
		}
		return nil
	}
	r.taken += size
	return region
}

// drop gives up what take or make has given, which nobody reads any more.
func (r *Room) drop(region *spill.Region) {
	r.taken -= region.Len()
	region.Drop()
}

// view gives numbers as the bytes that they are in memory: files have them as this machine has them.
func view[T int8 | float32](of []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(of))), len(of)*int(unsafe.Sizeof(one))) //nolint:gosec // within the memory of what it views
}

// goneWithin is how long it may take until files of which nobody has the index any more are gone.
const goneWithin = 200 * time.Millisecond

// putInstead keeps bytes of an owner's in a file after it has dropped indexes with files, so that there is room for these, beside those that the owner
// has taken for the index that is being made, and for some more.
func (c *Cache) putInstead(b []byte, owner, taken int64) (*spill.Region, error) {
	c.giving.Lock()
	defer c.giving.Unlock()
	size, most := int64(len(b)), c.folder.Most()
	region, err := c.folder.Put(b) // others have given meanwhile
	if !errors.Is(err, spill.ErrFull) || size > most || !c.dropFiles(owner, taken, max(size, most/8)) {
		return region, err
	}
	runtime.GC() // tells which files nobody reads any more
	for end := time.Now().Add(goneWithin); ; time.Sleep(time.Millisecond) {
		if region, err = c.folder.Put(b); !errors.Is(err, spill.ErrFull) || time.Now().After(end) {
			return region, err
		}
	}
}

// dropFiles drops indexes whose files have so many bytes together, and tells whether there was one.
func (c *Cache) dropFiles(owner, taken, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	dropped := int64(0)
	for dropped < size {
		gives := c.gives(owner, usage{onDisk: taken + size})
		if gives == nil {
			break
		}
		dropped += gives.Value.(*entry).Index.OnDisk()
		c.evict(gives)
	}
	return dropped > 0
}
