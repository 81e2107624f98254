//! What an application has written and its peer may ask for again (RFC 9293, section 3.3.1).

use std::collections::VecDeque;

use super::stream;

/// The octets of a stream that an application wrote, until they are acknowledged. Octets that nobody wrote here are those of
/// the pattern ([`stream`]), which need not be kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendBuffer {
    /// The place of the first octet in the stream.
    from: u64,
    octets: VecDeque<u8>,
}

impl SendBuffer {
    /// Keeps octets that follow on the first `end` ones of the stream.
    pub(crate) fn write(&mut self, end: u64, octets: &[u8]) {
        if self.octets.is_empty() {
            self.from = end;
        }
        self.octets.extend(octets);
    }

    /// The octets of the stream from `at` on. Segments without octets may lie behind all that was written.
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) {
        if self.octets.is_empty() {
            return stream::fill(at, out);
        }
        let skip = (at.saturating_sub(self.from) as usize).min(self.octets.len());
        out.iter_mut().zip(self.octets.range(skip..)).for_each(|(to, octet)| *to = *octet);
    }

    /// What lies before `una` is acknowledged.
    pub(crate) fn acknowledge(&mut self, una: u64) {
        let done = una.saturating_sub(self.from).min(self.octets.len() as u64);
        self.octets.drain(..done as usize);
        self.from += done;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(buffer: &SendBuffer, at: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        buffer.read(at, &mut out);
        out
    }

    #[test]
    fn octets_are_read_again_until_they_are_acknowledged() {
        let mut buffer = SendBuffer::default();
        buffer.write(0, b"abcd");
        buffer.write(4, b"efgh");
        assert_eq!((read(&buffer, 2, 4), read(&buffer, 8, 0)), (b"cdef".to_vec(), vec![]));
        buffer.acknowledge(3);
        buffer.acknowledge(3);
        assert_eq!((read(&buffer, 3, 5), buffer.octets.len()), (b"defgh".to_vec(), 5));
        // The end of the stream counts as an octet, which a bare acknowledgement lies behind.
        assert!(read(&buffer, 9, 0).is_empty());
        buffer.acknowledge(9);
        buffer.write(8, b"i");
        assert_eq!(read(&buffer, 8, 1), b"i");
    }

    #[test]
    fn what_nobody_wrote_is_the_pattern() {
        let mut pattern = [0; 5];
        stream::fill(70, &mut pattern);
        assert_eq!(read(&SendBuffer::default(), 70, 5), pattern);
    }
}
