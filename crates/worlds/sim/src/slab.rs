//! Values with small handles, in reused memory.

pub(crate) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
    /// Keeps a value; the handle finds it again, once.
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(i) = self.free.pop() {
            self.slots[i as usize] = Some(value);
            i
        } else {
            self.slots.push(Some(value));
            self.slots.len() as u32 - 1
        }
    }
    /// The value, which stays.
    pub(crate) fn get(&self, handle: u32) -> &T {
        self.slots[handle as usize].as_ref().expect("a handle is used before its value is taken")
    }
    /// Takes the value back.
    pub(crate) fn take(&mut self, handle: u32) -> T {
        self.free.push(handle);
        self.slots[handle as usize].take().expect("a handle is used once")
    }
    /// The values in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}
