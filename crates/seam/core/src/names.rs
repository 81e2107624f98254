//! Enumerations whose values have names.

/// Gives an enumeration `ALL`, its values in this order, and `name`, what tables, messages and arguments call each.
#[macro_export]
macro_rules! names {
    ($kind:ident { $($value:ident = $name:literal,)+ }) => {
        impl $kind {
            /// All of them, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name in tables, messages and arguments.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}
