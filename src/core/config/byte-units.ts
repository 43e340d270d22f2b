// Bytes as people count them.

export const MIB = 1024 ** 2;
export const GIB = 1024 ** 3;
